/**
 * A conversation between a caller and an agent.
 *
 *   media ─► Listening ─► Transcription ─┐
 *                                        ├─► Turns ─► AgentTurn ─► Playout ─► media
 *   page: texts, digits, tool results ───┘
 */
import type { MediaTransport } from '../ports/media.ts'
import type { CallLog } from './parts/call-log.ts'
import type { ConversationDeps, ConversationInput } from './parts/deps.ts'
import { guardedConversation, guardedDeps } from './parts/guarded.ts'
import type { Conversation } from './parts/live-call.ts'
import { Talking } from './talking.ts'

/** Starts the conversation over `media` and returns it. */
export function startConversation(
  deps: ConversationDeps,
  input: ConversationInput,
  media: MediaTransport,
  log: CallLog,
): Conversation {
  const failed = (err: unknown) => conversation.defect(err)
  const conversation: Talking = new Talking(guardedDeps(deps, failed), input, media, log)
  const guarded = guardedConversation(conversation, failed)
  try {
    conversation.begin()
  } catch (error) {
    failed(error)
  }
  return guarded
}
