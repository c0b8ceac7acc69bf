import type { Catalog } from '../../../domain/catalog/catalog.ts'
import type { Route } from '../../../domain/dispatch/request.ts'
import type { ItemEvent } from '../../../domain/llm/answer-assembler.ts'
import type { Generate } from '../../../domain/llm/generate.ts'
import type { ItemsAnswer, ItemsInput } from '../../../domain/llm/items.ts'
import type { Clock } from '../../../domain/ports/system.ts'
import type { Caller } from '../../../domain/records/organization.ts'
import type { CompatHandlers } from '../../../generated/compat/handlers.ts'
import type { ErrorEnvelope } from '../../../generated/compat/types.ts'
import type { FaultWriter } from '../../../runtime/engine/handler.ts'
import { routingOf } from '../../routing.ts'
import { chatHeaders } from './chat-completions.ts'
import { contextOf, languageOf } from './context.ts'
import { responseEvents } from './responses-events.ts'
import { ignoredInResponse } from './responses-ignored.ts'
import { begunResponse, endedResponse } from './responses-object.ts'
import { requestOfResponse } from './responses-request.ts'
import { responsePointers, rethrownWith } from './unsupported-fields.ts'

export type ResponsesDeps = {
  generate: Generate<ItemsInput, ItemsAnswer, ItemEvent>
  catalog: Catalog
  clock: Clock
  writeFault: FaultWriter
}

const rethrown = rethrownWith(responsePointers)

export function createCompatResponse(deps: ResponsesDeps): CompatHandlers<Caller>['createCompatResponse'] {
  const { generate, catalog, clock, writeFault } = deps
  return async ({ header, body }, context) => {
    const { caller, requestId, signal, trace } = context
    const input: ItemsInput = {
      ...contextOf(context),
      ...languageOf(header),
      routing: routingOf(catalog, 'llm', caller, { model: body.model }),
      request: requestOfResponse(body),
    }
    const ignored = ignoredInResponse(body)
    const begin = (route: Route) => begunResponse(body, requestId, route, Math.floor(clock.nowMs() / 1000))
    if (body.stream) {
      const { route, events } = await generate.stream(input).catch(rethrown)
      const source = {
        events,
        begun: begin(route),
        requestId,
        faultOf: (error: unknown) => {
          const { body } = writeFault(error, requestId, trace?.logFields)
          return (JSON.parse(body) as ErrorEnvelope).error
        },
        hasLeft: () => signal.aborted,
      }
      return {
        status: 200,
        type: 'text/event-stream',
        headers: chatHeaders(route, ignored),
        body: responseEvents(source),
      }
    }
    const { route, answer } = await generate.whole(input).catch(rethrown)
    const response = endedResponse(begin(route), requestId, answer)
    return { status: 200, type: 'application/json', headers: chatHeaders(route, ignored), body: response }
  }
}
