import { useState } from 'react'
import { Button } from './button.tsx'
import { CopyButton } from './copy-button.tsx'
import { count } from './formats.ts'
import styles from './json-view.module.css'
import { useMask } from './redaction.tsx'

/** A longer text would slow the page down, so its rest is shown only when a person asks for it. */
const shownCharactersMax = 65_536

/** Shows text that a program wrote, such as a request body. JSON is indented, and any other text stays as it is. */
export function JsonView({ text, label }: { text: string; label: string }) {
  const [isWhole, setWhole] = useState(false)
  const mask = useMask()
  const whole = indented(text)
  const isCut = !isWhole && whole.length > shownCharactersMax
  return (
    <div className={styles.view}>
      {/* The text scrolls, so the keyboard must reach it. */}
      <pre tabIndex={0} role="region" aria-label={label}>
        {mask(isCut ? whole.slice(0, shownCharactersMax) : whole)}
      </pre>
      <div className={styles.copy}>
        <CopyButton text={text} label={`Copy: ${label}`} />
      </div>
      {isCut && (
        <Button isSmall onClick={() => setWhole(true)}>
          Show all {count(whole.length)} characters
        </Button>
      )}
    </div>
  )
}

function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
