import { moment } from './formats.ts'

/** Shows a time for people, and in ISO format for programs. */
export function Moment({ at }: { at: string }) {
  return (
    <time dateTime={at} title={at}>
      {moment(at)}
    </time>
  )
}
