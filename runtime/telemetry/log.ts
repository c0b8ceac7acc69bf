import { type Logger, pino } from 'pino'
import { terminalLine } from './log-line.ts'

export type { Logger }

/**
 * Field names that could bring content or secrets into a log line by mistake. The first defence is that no code passes
 * them; this is the second. Paths are matched at the top and one level down, because our fields are not deeper.
 */
const secretFields = [
  'authorization',
  'apiKey',
  'key',
  'secret',
  'token',
  'text',
  'input',
  'prompt',
  'body',
  'audio',
  'arguments',
]

/**
 * Makes a log of JSON lines, written in blocks (4 KiB, or after one second), so a log line costs a request no system
 * call. `fatal` flushes. On a terminal each line is written at once, as plain text.
 */
export function createLog(level: string, terminal: Terminal = process.stderr): Logger {
  const destination = terminal.isTTY
    ? { write: (line: string) => void terminal.write(terminalLine(line)) }
    : pino.destination({ fd: 2, sync: false, minLength: 4096, periodicFlush: 1000 })
  return createLogTo(level, destination)
}

/** Writes JSON lines to `destination`, each with its end of line. */
export function createLogTo(level: string, destination: { write(line: string): unknown }): Logger {
  return pino(
    {
      level,
      base: { pid: process.pid },
      redact: { paths: secretFields.flatMap((name) => [name, `*.${name}`]), censor: '[redacted]' },
      serializers: { err: causes },
    },
    destination,
  )
}

/** The part of standard error used by the log. */
export type Terminal = { isTTY?: boolean; write(text: string): unknown }

/**
 * Returns class, message, code and stack for an error and its causes. Other properties are left out, because they can
 * hold a provider's response.
 */
function causes(error: unknown): object {
  if (!(error instanceof Error)) return { type: typeof error }
  const code = (error as { code?: unknown }).code
  return {
    type: error.name,
    message: error.message.slice(0, 512),
    ...(typeof code === 'string' ? { code } : {}),
    stack: error.stack,
    ...(error.cause === undefined ? {} : { cause: causes(error.cause) }),
  }
}

/** Microseconds are enough for every duration in the log. */
export const roundedMs = (durationMs: number) => Math.round(durationMs * 1000) / 1000
