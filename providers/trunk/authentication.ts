/** Answers a trunk's challenges: a trunk may require a login for our requests (RFC 3261, section 22). */
import type { Draft } from './client-transaction.ts'
import { answerTo, type Credentials } from './digest.ts'
import type { Header, SipResponse } from './message.ts'

/**
 * The maximum number of challenges answered. A second challenge means a wrong password, or an expired nonce in the
 * first challenge.
 */
const challengesMax = 2

/** Answers the challenges to one request, also when the request is sent again with the login. */
export class Authentication {
  readonly #credentials: Credentials | null
  #challenges = 0

  constructor(credentials: Credentials | null) {
    this.#credentials = credentials
  }

  /**
   * Returns the login header for sending the request again. Returns null if the response is not a challenge or cannot
   * be answered.
   */
  answer({ code, headers }: SipResponse, draft: Draft): Header | null {
    if (this.#credentials === null || this.#challenges >= challengesMax || (code !== 401 && code !== 407)) return null
    const [challengeName, answered] =
      code === 401 ? ['www-authenticate', 'authorization'] : ['proxy-authenticate', 'proxy-authorization']
    const challenges = headers.filter(([name]) => name === challengeName).map(([, value]) => value)
    // A second challenge without `stale=true` means the trunk has refused the password.
    if (this.#challenges > 0 && !challenges.some((text) => /stale[ \t]*=[ \t]*"?true/i.test(text))) return null
    const answer = answerTo(challenges, this.#credentials, draft)
    if (answer === null) return null
    this.#challenges++
    return [answered, answer]
  }
}
