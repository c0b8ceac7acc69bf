import { moment } from './formats.ts'

/** Shows a time, in words for people and in ISO 8601 for programs. */
export function Moment({ at }: { at: string }) {
  return (
    <time dateTime={at} title={at}>
      {moment(at)}
    </time>
  )
}
