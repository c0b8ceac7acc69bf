import type { Test } from 'tap'
import type { DispatchDeps } from '../../domain/dispatch/request.ts'
import { createGenerate } from '../../domain/llm/generate.ts'
import { type ItemsInput, itemsTranslation } from '../../domain/llm/items.ts'
import type { Llm, LlmAnswer, LlmEvent, LlmRequest } from '../../domain/ports/llm.ts'
import type { Model } from '../../domain/ports/model.ts'
import type { CancelSignal } from '../../domain/ports/system.ts'
import type { Routing } from '../../domain/routing/ask.ts'
import { bench, hang, model, order, provider, script, usage } from './fakes.ts'

export const auto: Routing = { mode: 'auto', objective: 'balanced' }
export const request: Omit<LlmRequest, 'model'> = {
  items: [{ type: 'message', role: 'user', text: 'x'.repeat(100) }],
  maxOutputTokens: 100,
  tools: [],
}
export const answer: LlmAnswer = { text: 'hello', calls: [], stopReason: 'stop', usage }
export const text = (delta: string): LlmEvent => ({ type: 'text', delta })
export const priced = [
  { unit: 'million_input_tokens' as const, microUsd: 1_000_000, source: 's', asOf: 'd' },
  { unit: 'million_output_tokens' as const, microUsd: 4_000_000, source: 's', asOf: 'd' },
]
export const everything = { ...model('llm').capabilities, tools: true, structured_output: true, reasoning: true }

export type Part = LlmEvent | Error | 'hang'

export const generateItems = (deps: DispatchDeps) => createGenerate(deps, itemsTranslation)

/** Sets up LLM providers a, b, c … with their answers, whole or in a stream. */
export function setup(answers: (LlmAnswer | Error | 'hang' | Part[])[], over: Partial<Model> = {}) {
  const asked: string[] = []
  const signals: CancelSignal[] = []
  const providers = answers.map((each, i) => {
    const id = 'abcdef'[i] ?? ''
    const note = (signal: CancelSignal) => {
      asked.push(id)
      signals.push(signal)
    }
    const llm: Llm = {
      respond: (_request, signal) => {
        note(signal)
        if (each === 'hang') return hang()
        if (each instanceof Error) return Promise.reject(each)
        return Array.isArray(each) ? Promise.reject(new Error('a stream')) : Promise.resolve(each)
      },
      stream: (_request, signal) => {
        note(signal)
        return script(Array.isArray(each) ? each : [new Error('no stream')])
      },
    }
    return provider(id, [model('llm', { capabilities: everything, ...over })], { llm })
  })
  const all = bench(providers)
  const generate = generateItems(all.deps)
  const inputOf = (extra: Partial<ItemsInput>): ItemsInput => ({ ...order(), routing: auto, request, ...extra })
  const once = async (extra: Partial<ItemsInput> = {}) => {
    const { answer, ...rest } = await generate.whole(inputOf(extra))
    return { ...answer, ...rest }
  }
  const stream = (extra: Partial<ItemsInput> = {}) => generate.stream(inputOf(extra))
  return { ...all, asked, signals, once, stream }
}

/** Asserts that an ended request has left no timer and no lease. */
export function isClean(
  t: Test,
  { clock, held }: { clock: { timers: number }; held: { leases: number; ended: number } },
) {
  t.equal(clock.timers, 0, 'no timer')
  t.match(held, { leases: 0, ended: 1 }, 'the lease ended once')
}
