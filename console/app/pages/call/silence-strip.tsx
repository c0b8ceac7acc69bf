import styles from './silence-strip.module.css'
import type { Silence } from './timeline.ts'

/** Draws the silence as one bar. Each part has its share of the width. */
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
