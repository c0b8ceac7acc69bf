/** Converts pino's JSON line to a log line for a person at a terminal: `10:21:03 warn  the message  field=value`. */

const levels: Readonly<Record<number, string>> = {
  10: 'trace',
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'error',
  60: 'fatal',
}

type Entry = { level: number; time: number; msg?: string; pid?: number; err?: LoggedError } & Record<string, unknown>
type LoggedError = { type?: string; message?: string; code?: string; stack?: string; cause?: LoggedError }

export function terminalLine(json: string): string {
  const { level, time, msg = '', err, ...fields } = JSON.parse(json) as Entry
  const shown = Object.entries(fields)
    .filter(([name]) => name !== 'pid')
    .map(([name, value]) => `${name}=${plain(value)}`)
  const line = [clock(time), (levels[level] ?? String(level)).padEnd(5), [escape(msg), ...shown].join('  ')].join(' ')
  return `${line}\n${err ? errorLines(err) : ''}`
}

/** Writes a time as local time, because the reader sits at this machine's terminal. */
function clock(timeMs: number): string {
  const time = new Date(timeMs)
  return [time.getHours(), time.getMinutes(), time.getSeconds()].map((part) => String(part).padStart(2, '0')).join(':')
}

/** Quotes a value, so a line break or an escape in it cannot imitate our output on the terminal. */
function plain(value: unknown): string {
  if (typeof value === 'string' && /^[\w./:@+-]+$/.test(value)) return value
  return JSON.stringify(value) ?? 'undefined'
}

/** Writes an error and its causes as lines. The stack already begins with type and message. */
function errorLines({ type = 'Error', message = '', code, stack, cause }: LoggedError): string {
  const text = escape(stack ?? `${type}: ${message}`)
  const lines = text.split('\n').map((line) => `         ${line.trimEnd()}\n`)
  return `${lines.join('')}${code ? `         code ${code}\n` : ''}${cause ? causeLines(cause) : ''}`
}

/** Writes a cause without its stack. */
function causeLines(cause: LoggedError): string {
  const withoutStack = { ...cause }
  delete withoutStack.stack
  return errorLines(withoutStack)
}

/** Replaces control characters except the line feed. */
const escape = (text: string) => text.replace(/(?!\n)\p{Cc}/gu, ' ')
