/** Puts messages and calls into one list, the oldest first. */
import type { CallOverview, ConversationMessage } from '../../../../generated/clients/typescript/models/platform.ts'

export type Entry = { at: string; message: ConversationMessage } | { at: string; call: CallOverview }

/** If older messages are not read yet, a call before the first message would be at a wrong place, so it is left out. */
export function entriesOf(
  messages: readonly ConversationMessage[],
  calls: readonly CallOverview[],
  hasOlder: boolean,
): Entry[] {
  const oldest = messages.at(-1)?.createdAt
  const shown = calls.filter(({ created_at: at }) => !hasOlder || oldest === undefined || at >= oldest)
  return [
    ...messages.map((message) => ({ at: message.createdAt, message })),
    ...shown.map((call) => ({ at: call.created_at, call })),
  ].sort((a, b) => Date.parse(a.at) - Date.parse(b.at))
}
