import { moment } from './formats.ts'

/** A time for people, which programs can read too. */
export function Moment({ at }: { at: string }) {
  return (
    <time dateTime={at} title={at}>
      {moment(at)}
    </time>
  )
}
