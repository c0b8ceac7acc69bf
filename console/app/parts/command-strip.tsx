/** Shows the page's request as a line for curl and as a line of our command line, so a program can do the same. */
import { useState } from 'react'
import { Button } from './button.tsx'
import styles from './command-strip.module.css'
import { CopyButton } from './copy-button.tsx'

export type Command = {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** The path with its query, such as /v1/calls?limit=50. */
  path: string
  body?: unknown
  /** The parts of a multipart body, such as audio=@turn.wav. */
  parts?: readonly string[]
  /** True for an answer that is not text. curl refuses to write such an answer to a terminal. */
  answersBytes?: true
  /** The command without `parley`. It is missing if no command does the same. */
  cli?: string
}

type StripProps = {
  command: Command
  /** Names the strip if the page has another strip. */
  label?: string
}

export function CommandStrip({ command, label = 'The same by a program' }: StripProps) {
  const [kind, setKind] = useState<'curl' | 'cli'>('curl')
  const isCli = kind === 'cli' && command.cli !== undefined
  const line = isCli ? `parley ${command.cli}` : curlOf(command)
  return (
    <section className={styles.strip} aria-label={label}>
      <div className={styles.kinds}>
        <Button look="quiet" isSmall aria-pressed={!isCli} onClick={() => setKind('curl')}>
          curl
        </Button>
        {command.cli !== undefined && (
          <Button look="quiet" isSmall aria-pressed={isCli} onClick={() => setKind('cli')}>
            parley
          </Button>
        )}
      </div>
      {/* The line scrolls, so the keyboard must reach it. */}
      <pre className={styles.line} tabIndex={0} aria-label={`The line of ${isCli ? 'parley' : 'curl'}`}>
        {line}
      </pre>
      <CopyButton text={line} label="Copy the line" />
    </section>
  )
}

/** The router needs a new idempotency key for each POST. */
function curlOf({ method = 'GET', path, body, parts = [], answersBytes }: Command): string {
  const sent = body === undefined ? '' : ` -H 'Content-Type: application/json' -d ${shellWord(JSON.stringify(body))}`
  const form = parts.map((part) => ` -F ${shellWord(part)}`).join('')
  const verb = method === 'GET' ? '' : ` -X ${method}`
  const key = method === 'POST' && path.startsWith('/router/') ? ' -H "Idempotency-Key: $(date +%s%N)"' : ''
  const output = answersBytes ? ' --output answer.bin' : ''
  const url = shellWord(`${window.location.origin}${path}`)
  return `curl${verb} -H "Authorization: Bearer $PARLEY_KEY"${key}${sent}${form}${output} ${url}`
}

/** Makes a shell take a text as one word. Quotes the text if it has a character that a shell could read otherwise. */
export const shellWord = (text: string) =>
  /^[\w./:=@+,-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
