import { useTimes } from './times.tsx'

/** Shows a time, in words for people and in ISO 8601 for programs. */
export function Moment({ at }: { at: string }) {
  const { moment } = useTimes()
  return (
    <time dateTime={at} title={at}>
      {moment(at)}
    </time>
  )
}
