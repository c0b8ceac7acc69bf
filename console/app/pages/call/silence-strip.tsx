import styles from './silence-strip.module.css'
import type { Silence } from './timeline.ts'

/** The silence before an answer as one bar, in which each part is as wide as its share of the time. */
export function SilenceStrip({ silence: { parts, ms } }: { silence: Silence }) {
  return (
    <span className={styles.strip} aria-hidden="true">
      {parts
        .filter(({ waitedMs }) => waitedMs > 0)
        .map(({ id, kind, waitedMs }) => (
          <i key={id} data-step={kind} style={{ width: `${(100 * waitedMs) / Math.max(1, ms)}%` }} />
        ))}
    </span>
  )
}
