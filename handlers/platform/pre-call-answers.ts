/** Reads the response of a pre-call webhook (the event `call.pre_call`), in the contract's names. */
import type { PreCallOverrides, PreCallReply, SaidIssue } from '../../domain/sessions/pre-call.ts'
import type { PreCallAnswers } from '../../domain/sessions/pre-call-webhook.ts'
import type { PreCallAnswer } from '../../generated/platform/types.ts'
import { callPreCallAnswer } from '../../generated/platform/validators.ts'
import { refuseBody } from '../../runtime/engine/violation.ts'
import { issuesOf } from './faults.ts'

export const preCallAnswers: PreCallAnswers = {
  issuesOf,
  tooLarge: (bytesMax) => invalid([whole(`the answer is larger than ${bytesMax} bytes`, 'maxLength')]),
  hasTools: (body) => hasTools(Buffer.from(body).toString()),
  read(body) {
    const text = textOf(body)
    if (text === null) return invalid([whole('the answer is not UTF-8', 'format')])
    if (text.trim() === '') return { result: 'empty' }
    const answer = jsonOf(text)
    if (answer === undefined) return invalid([whole('the answer is not JSON', 'format')])
    if (!callPreCallAnswer(answer)) return invalid(issuesOfBody())
    const overrides = overridesOf(answer as PreCallAnswer)
    return Object.keys(overrides).length === 0 ? { result: 'empty' } : { result: 'answered', overrides }
  },
}

const invalid = (issues: readonly SaidIssue[]): PreCallReply => ({ result: 'invalid', issues })
const whole = (message: string, keyword: string): SaidIssue => ({ path: '', message, keyword })

function issuesOfBody(): readonly SaidIssue[] {
  const { message, detail } = refuseBody(callPreCallAnswer.errors, 'the answer')
  return detail.issues ?? [whole(message, 'type')]
}

function textOf(body: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch {
    return null
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Returns true if the response body has a field `tools` at any depth. If the body is not JSON, any occurrence of the
 * word counts.
 */
function hasTools(text: string): boolean {
  // `\u` matches escapes, because the name can be written with escapes in JSON.
  if (!/tools|\\u/.test(text)) return false
  let isPresent = false
  try {
    JSON.parse(text, (name, value: unknown) => {
      isPresent ||= name === 'tools'
      return value
    })
    return isPresent
  } catch {
    return text.includes('tools')
  }
}

const names = {
  intent: true,
  constraints: true,
  voice: true,
  systemPrompt: true,
  firstMessage: true,
  llm: true,
  ttsOptions: true,
  sttOptions: true,
  backgroundAudio: true,
  tools: true,
  speechNormalization: true,
  idleRePrompts: true,
  metadata: true,
} as const satisfies Record<keyof PreCallOverrides, true>

/**
 * Returns the overrides. A field in `pipeline_config` overrides the same field in `pipelineConfig`, and a field at the
 * top level overrides both. Other fields are ignored.
 */
function overridesOf({ pipelineConfig, pipeline_config, ...top }: PreCallAnswer): PreCallOverrides {
  const joined = { ...pipelineConfig, ...pipeline_config, ...top }
  const entries = Object.entries(joined).filter(([name]) => Object.hasOwn(names, name))
  return Object.fromEntries(entries)
}
