/** Replaces a conversation's loaded pages by fresh pages. */
import type { InfiniteData } from '@tanstack/react-query'
import type {
  ConversationMessage,
  ConversationMessageList,
} from '../../../generated/clients/typescript/models/platform.ts'

export type MessagePages = InfiniteData<ConversationMessageList, string | null>

/** A page that stays open for days would otherwise collect all messages. */
const olderMax = 400

/**
 * Keeps loaded messages behind the fresh pages: each new message pushes the oldest message out, and the messages on the
 * screen would move. If no loaded message is in the fresh pages, messages between them are missing, so only the fresh
 * pages are kept.
 */
export function withLoaded(previous: MessagePages | undefined, fresh: MessagePages): MessagePages {
  const loaded = previous?.pages.flatMap(({ messages }) => messages) ?? []
  const ids = new Set(fresh.pages.flatMap(({ messages }) => messages.map(({ id }) => id)))
  const isWhole = fresh.pages.at(-1)?.nextCursor === null
  const behind = loaded.findLastIndex(({ id }) => ids.has(id)) + 1
  const older = isWhole || behind === 0 ? [] : loaded.slice(behind, behind + olderMax)
  return withoutRepeats(fresh, older)
}

/** Adds the older messages to the last page. The next older page repeats them, so repeats are removed. */
function withoutRepeats({ pages, pageParams }: MessagePages, older: readonly ConversationMessage[]): MessagePages {
  const seen = new Set<string>()
  const isNew = ({ id }: ConversationMessage) => {
    const isRepeated = seen.has(id)
    seen.add(id)
    return !isRepeated
  }
  const last = pages.length - 1
  return {
    pageParams,
    pages: pages.map((page, at) => ({
      ...page,
      messages: [...page.messages, ...(at === last ? older : [])].filter(isNew),
    })),
  }
}
