/** The answers to the challenges of a trunk, which wants its login with the requests that we send (RFC 3261, section 22). */
import type { Draft } from './client-transaction.ts'
import { answerTo, type Credentials } from './digest.ts'
import type { Header, SipResponse } from './message.ts'

/** A second challenge says that the password is wrong, or that the first nonce was too old. */
const challengesMax = 2

/** For one request and its repeats. */
export class Authentication {
  readonly #credentials: Credentials | null
  #challenges = 0

  constructor(credentials: Credentials | null) {
    this.#credentials = credentials
  }

  /** The header with which the request is sent again. Null: the response is no challenge, or it cannot be answered. */
  answer({ code, headers }: SipResponse, draft: Draft): Header | null {
    if (this.#credentials === null || this.#challenges >= challengesMax || (code !== 401 && code !== 407)) return null
    const [asked, answered] =
      code === 401 ? ['www-authenticate', 'authorization'] : ['proxy-authenticate', 'proxy-authorization']
    const challenges = headers.filter(([name]) => name === asked).map(([, value]) => value)
    // A challenge that does not call the nonce old refuses the password.
    if (this.#challenges > 0 && !challenges.some((text) => /stale[ \t]*=[ \t]*"?true/i.test(text))) return null
    const answer = answerTo(challenges, this.#credentials, draft)
    if (answer === null) return null
    this.#challenges++
    return [answered, answer]
  }
}
