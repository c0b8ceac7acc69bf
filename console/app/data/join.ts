/** A person's seat in a live call. */
import { type SessionCallbacks, startSession, type TalkSession } from '../../session/session-client.js'
import { platform } from './clients.ts'

export type Seat = Pick<TalkSession, 'mute' | 'hangUp'>

/**
 * Joins the call. Without the microphone the person only listens, and the agent goes on. Must be called in a click,
 * because browsers allow sound only then.
 */
export async function joinCall(
  id: string,
  { displayName, speaks }: { displayName: string; speaks: boolean },
  on: SessionCallbacks,
): Promise<Seat> {
  const { body } = await platform.webJoinCall({ path: { id }, body: { displayName } })
  return startSession({ transportUrl: body.url, transportToken: body.token, microphone: speaks, on })
}
