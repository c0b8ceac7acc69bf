import { useState } from 'react'
import { Button } from './button.tsx'
import styles from './json.module.css'
import { Private } from './redaction.tsx'

/** Longer texts are cut until somebody asks for the rest, because a browser is slow with them. */
const shownMax = 64 * 1024

/** JSON with line breaks. A text that is not JSON is shown as it is. */
export function Json({ text, label }: { text: string; label: string }) {
  const [isWhole, setWhole] = useState(false)
  const written = pretty(text)
  const isCut = !isWhole && written.length > shownMax
  return (
    <div className={styles.json}>
      <pre tabIndex={0} aria-label={label}>
        <Private>{isCut ? written.slice(0, shownMax) : written}</Private>
      </pre>
      {isCut && (
        <Button isSmall onClick={() => setWhole(true)}>
          Show all
        </Button>
      )}
    </div>
  )
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
