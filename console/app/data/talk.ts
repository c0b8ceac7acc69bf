/** Starts a conversation with an agent in this page. */
import { type SessionCallbacks, startSession, type TalkSession } from '../../session/session-client.js'
import { platform } from './clients.ts'

export type { SessionCallbacks, TalkSession } from '../../session/session-client.js'

export type Talk = { id: string; session: TalkSession; hasMicrophone: boolean }

/**
 * Starts a conversation. This must happen during a click, because browsers allow sound only then. Without a microphone
 * the person types.
 */
export async function talkTo(agentId: string, on: SessionCallbacks): Promise<Talk> {
  const { body } = await platform.createSession({ body: { agentId } })
  const { sessionId: id, transportUrl, transportToken } = body
  const options = { transportUrl, transportToken, on }
  try {
    return { id, session: await startSession(options), hasMicrophone: true }
  } catch (error) {
    if (!isMicrophoneFault(error)) throw error
    return { id, session: await startSession({ ...options, microphone: false }), hasMicrophone: false }
  }
}

/** The browser throws these errors if there is no microphone, or if the person does not allow the microphone. */
export const isMicrophoneFault = (error: unknown) => error instanceof DOMException || error instanceof TypeError
