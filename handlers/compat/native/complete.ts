import type { Catalog } from '../../../domain/catalog/catalog.ts'
import type { Caller } from '../../../domain/records/organization.ts'
import type { CompatHandlers, CompleteEvent } from '../../../generated/compat/handlers.ts'
import type { NativeCompletion, NativeMeta } from '../../../generated/compat/types.ts'
import { routingOf } from '../../routing.ts'
import type { Chat, ChatStream } from '../openai/chat.ts'
import type { ChatInput } from '../openai/chat-translation.ts'
import { acceptsEvents, contextOf, ignoredHeader, languageOf, nativeHeaders, nativeMeta } from '../openai/context.ts'
import { chatBody } from './completion-request.ts'
import { CompletionText } from './completion-text.ts'

export type CompleteDeps = { chat: Chat; catalog: Catalog; streams: boolean }

export function complete({ chat, catalog, streams }: CompleteDeps): CompatHandlers<Caller>['complete'] {
  return async ({ header, body }, context) => {
    const input: ChatInput = {
      ...contextOf(context),
      ...languageOf(header, body.intent?.language),
      routing: routingOf(catalog, 'llm', context.caller, body),
      body: chatBody(body),
      ...(body.maxTokens !== undefined && { maxOutputTokens: body.maxTokens }),
    }
    if (acceptsEvents(context, streams)) {
      const counted = { ...input.body, stream_options: { include_usage: true } }
      const stream = await chat.stream({ ...input, body: counted })
      const events = eventsOf(stream, nativeMeta(stream.route, context.requestId, catalog))
      return { status: 200, type: 'text/event-stream', headers: headersOf(stream), body: events }
    }
    const whole = await chat.complete(input)
    const { route, completion } = whole
    const completed = new CompletionText()
    completed.readAnswer(completion)
    const answer = answerOf(completed, nativeMeta(route, context.requestId, catalog))
    return { status: 200, type: 'application/json', headers: headersOf(whole), body: answer }
  }
}

function headersOf({ route, ignored }: Pick<ChatStream, 'route' | 'ignored'>) {
  return { ...nativeHeaders(route), ...ignoredHeader(ignored.map((field) => nameOf[field] ?? field)) }
}

/** Maps field names of chat completions to the field names of `/v1/complete`, where they differ. */
const nameOf: Readonly<Record<string, string>> = { parallel_tool_calls: 'parallelToolCalls' }

function answerOf(completed: CompletionText, meta: NativeMeta): NativeCompletion {
  const { provider, model, failoverCount, scoresRunId } = meta
  const toolCalls = completed.toolCalls()
  return {
    text: completed.text,
    ...{ provider, model, failoverCount, scoresRunId },
    usage: completed.usage,
    ...(toolCalls.length > 0 && { toolCalls }),
  }
}

/**
 * Makes the event stream. Tool calls are sent only after the provider has ended, because a call that was cut off must
 * not look complete.
 */
async function* eventsOf({ chunks }: ChatStream, meta: NativeMeta): AsyncGenerator<CompleteEvent> {
  yield { event: 'meta', data: { ...meta, totalFailoverCount: meta.failoverCount, hop: 0 } }
  const completed = new CompletionText()
  for await (const chunk of chunks) {
    const text = completed.readChunk(chunk)
    if (text !== '') yield { event: 'delta', data: { text } }
  }
  for (const call of completed.toolCalls()) yield { event: 'tool_call', data: call }
  yield { event: 'done', data: answerOf(completed, meta) }
}
