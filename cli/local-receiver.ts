/** Sends an event to a developer's server, like a delivery, and reports the outcome. */
import { Option } from 'commander'
import type { WebhookSigner } from './actions.ts'
import { UsageError } from './command-error.ts'

export type Receiver = { url: string; signer: WebhookSigner }
export type Outcome = { isReceived: boolean; answer: string; ms: number }

/** The same time-out as an endpoint's default. */
const timeoutMs = 10_000

/**
 * Sends the event and reports the outcome. Never rejects. A redirect is not followed, and the response's body is not
 * read.
 */
export async function postTo({ url, signer }: Receiver, event: { id: string; body: string }): Promise<Outcome> {
  const startedMs = performance.now()
  const { isReceived, answer } = await answerOf(url, signer.headersOf(event), event.body)
  return { isReceived, answer, ms: performance.now() - startedMs }
}

async function answerOf(url: string, headers: Record<string, string>, body: string): Promise<Omit<Outcome, 'ms'>> {
  try {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    })
    await answer.body?.cancel()
    return { isReceived: answer.ok, answer: String(answer.status) }
  } catch (error) {
    return { isReceived: false, answer: reasonOf(error) }
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof DOMException && error.name === 'TimeoutError') return `no answer in ${timeoutMs / 1000} s`
  const { code } = ((error as Error).cause ?? {}) as { code?: string }
  return code === 'ECONNREFUSED' ? 'nobody listens there' : (code ?? 'no answer')
}

/** Reads the URL in an option. Throws CommandError if the URL is not valid. */
export function addressOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '') return url.href
  throw new UsageError('--forward-to takes an address such as http://localhost:3000/hook')
}

/**
 * Makes the option for the secret, with the length limits of an endpoint's secret. The secret can also be set in an
 * environment variable, because other users on the machine can see a command's arguments, but not its variables.
 */
export function secretOption(defaultWords: string): Option {
  return new Option('--secret <text>', `sign with this secret; by default with ${defaultWords}`)
    .env('PARLEY_WEBHOOK_SECRET')
    .argParser((text) => {
      if (text.length >= 8 && text.length <= 256) return text
      throw new UsageError('--secret takes 8 to 256 characters, and so does PARLEY_WEBHOOK_SECRET')
    })
}
