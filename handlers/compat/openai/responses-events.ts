/** Makes the event stream for OpenAI's Responses. */
import type { ItemEvent, OutputItem } from '../../../domain/llm/answer-assembler.ts'
import type { CreateCompatResponseEvent } from '../../../generated/compat/handlers.ts'
import type { CompatResponse, CompatResponseItem, ErrorDetail } from '../../../generated/compat/types.ts'
import { endedResponse, failedResponse, itemId, partOf } from './responses-object.ts'

type Numbered = CreateCompatResponseEvent extends infer Event
  ? Event extends { data: infer Data }
    ? Omit<Data, 'sequence_number'>
    : never
  : never

export type EventSource = {
  events: AsyncIterable<ItemEvent>
  begun: CompatResponse
  requestId: string
  /** Returns the fault to show to the client if the iteration throws. */
  faultOf: (error: unknown) => ErrorDetail
  hasLeft: () => boolean
}

/**
 * Yields the events. A failure is two events: OpenAI's clients throw at `error`, and other clients wait for
 * `response.failed`. If the client has left, the error is thrown, because no client reads the events.
 */
export async function* responseEvents(source: EventSource): AsyncGenerator<CreateCompatResponseEvent> {
  const { events, begun, faultOf, hasLeft } = source
  const numbers = { next: 0 }
  const output: OutputItem[] = []
  try {
    for await (const event of events) {
      // An item's last events are held until the stream ends, because only the end shows whether the item was cut off.
      // The end follows at once.
      if (event.type === 'itemCompleted') output.push(event.item)
      else for (const data of wireEvents(event, output, source)) yield numbered(data, numbers)
    }
  } catch (error) {
    if (hasLeft()) throw error
    const fault = faultOf(error)
    const { code, message, param = null } = fault
    yield numbered({ type: 'error', code, message, param, error: fault }, numbers)
    const failure = {
      code: fault.type === 'rate_limit_error' ? 'rate_limit_exceeded' : 'server_error',
      message,
    } as const
    yield numbered({ type: 'response.failed', response: failedResponse(begun, failure) }, numbers)
  }
}

function numbered(data: Numbered, numbers: { next: number }): CreateCompatResponseEvent {
  const { type, ...fields } = data
  return { event: type, data: { type, sequence_number: numbers.next++, ...fields } } as CreateCompatResponseEvent
}

function wireEvents(
  event: Exclude<ItemEvent, { type: 'itemCompleted' }>,
  output: readonly OutputItem[],
  { begun, requestId }: EventSource,
): Numbered[] {
  switch (event.type) {
    case 'created':
      return [
        { type: 'response.created', response: begun },
        { type: 'response.in_progress', response: begun },
      ]
    case 'itemAdded':
      return addedEvents(event, requestId)
    case 'textDelta': {
      const { index, delta } = event
      const id = itemId(requestId, index, 'message')
      return [{ type: 'response.output_text.delta', ...textPlace(id, index), delta, logprobs: [] }]
    }
    case 'argumentsDelta': {
      const { index, delta } = event
      const id = itemId(requestId, index, 'function_call')
      return [{ type: 'response.function_call_arguments.delta', item_id: id, output_index: index, delta }]
    }
    case 'completed': {
      const ended = endedResponse(begun, requestId, { ...event, output: [...output] })
      const type = ended.status === 'incomplete' ? 'response.incomplete' : 'response.completed'
      return [...ended.output.flatMap(doneEvents), { type, response: ended }]
    }
  }
}

function addedEvents({ index, item }: Extract<ItemEvent, { type: 'itemAdded' }>, requestId: string): Numbered[] {
  const id = itemId(requestId, index, item.type)
  const [type, status] = ['response.output_item.added', 'in_progress'] as const
  if (item.type === 'function_call') {
    const { callId, name } = item
    const call = { id, type: 'function_call', status, call_id: callId, name, arguments: '' } as const
    return [{ type, output_index: index, item: call }]
  }
  const message = { id, type: 'message', status, role: 'assistant', content: [] } as const
  return [
    { type, output_index: index, item: { ...message, content: [] } },
    { type: 'response.content_part.added', ...textPlace(id, index), part: partOf('') },
  ]
}

function doneEvents(item: CompatResponseItem, index: number): Numbered[] {
  const done: Numbered = { type: 'response.output_item.done', output_index: index, item }
  if (item.type === 'function_call') {
    // Without the arguments' last event, a call that was cut off does not look finished.
    if (item.status === 'incomplete') return [done]
    const { name, arguments: text } = item
    const type = 'response.function_call_arguments.done'
    return [{ type, item_id: item.id, output_index: index, name, arguments: text }, done]
  }
  const place = textPlace(item.id, index)
  return [
    ...item.content.flatMap((part): Numbered[] => [
      { type: 'response.output_text.done', ...place, text: part.text, logprobs: [] },
      { type: 'response.content_part.done', ...place, part },
    ]),
    done,
  ]
}

/** Returns the location fields for a message's text in the response. A message has one content part. */
function textPlace(id: string, index: number) {
  return { item_id: id, output_index: index, content_index: 0 }
}
