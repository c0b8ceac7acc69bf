/** Turns an agent into form fields, and form fields into a change. */
import type { Agent, AgentChange, NewAgent } from '../../../../generated/clients/typescript/models/platform.ts'
import type { FormValues } from '../../parts/form-values.ts'

/** Every agent needs these settings. */
export function firstSettingsIn(values: FormValues): NewAgent {
  return {
    name: values.text('name'),
    systemPrompt: values.text('systemPrompt'),
    intent: { language: values.text('language') },
    voice: values.optional('voice') ?? null,
    firstMessage: values.optional('firstMessage') ?? null,
  }
}

/** These settings have no field. A person edits them as JSON, with the API's names. */
const others = [
  ...(['stackPreferences', 'sttOptions', 'ttsOptions', 'backgroundAudio', 'speechNormalization'] as const),
  ...(['idleRePrompts', 'turnHandling', 'voicemail', 'maxToolHops', 'clientOverrides'] as const),
  ...(['promptVariables', 'extractionFields', 'rmsg'] as const),
]

/** Returns only the settings with a value, because a short text is easier to read. */
export function othersOf(agent: Agent): string {
  const set = others.filter((name) => agent[name] !== null && !isEmptyList(agent[name]))
  return JSON.stringify(Object.fromEntries(set.map((name) => [name, agent[name]])), null, 2)
}

const isEmptyList = (value: unknown) => Array.isArray(value) && value.length === 0

/** Returns the changed settings only. Throws if the other settings are not JSON. */
export function changeIn(values: FormValues, agent: Agent): AgentChange {
  const text = (name: string) => values.optional(name) ?? null
  const number = (name: string) => values.number(name) ?? null
  const recording = values.text('recording')
  const { language, ...intent } = agent.intent
  const optimizeFor = values.optional('optimizeFor')
  const wanted = {
    ...firstSettingsIn(values),
    intent: { ...intent, language: values.text('language') || language, ...(optimizeFor && { optimizeFor }) },
    firstMessageMode: text('firstMessageMode'),
    llmOptions: llmOptionsIn(values, agent),
    maxDurationSeconds: number('maxDurationSeconds'),
    silenceTimeoutSeconds: number('silenceTimeoutSeconds'),
    endCallMessage: text('endCallMessage'),
    fallbackMessage: text('fallbackMessage'),
    timezone: text('timezone'),
    recording: recording === '' ? null : recording === 'yes',
    ...othersIn(values.text('others')),
  }
  const changed = Object.entries(wanted).filter(([name, value]) => !isSame(value, agent[name as keyof Agent]))
  return Object.fromEntries(changed)
}

function llmOptionsIn(values: FormValues, agent: Agent): Agent['llmOptions'] {
  const wanted = { ...agent.llmOptions, model: values.optional('model'), temperature: values.number('temperature') }
  const set = Object.entries(wanted).filter(([, value]) => value !== undefined)
  return set.length === 0 ? null : Object.fromEntries(set)
}

/** Reads the JSON of the settings without a form field. A setting that is missing in the text is cleared. */
function othersIn(text: string): Record<string, unknown> {
  const given = JSON.parse(text === '' ? '{}' : text) as Record<string, unknown>
  return { ...Object.fromEntries(others.map((name) => [name, null])), ...given }
}

/** Null and an empty list both mean no setting. The order of names in an object does not matter. */
function isSame(a: unknown, b: unknown): boolean {
  const sorted = (value: unknown) =>
    JSON.stringify(value, (_, each: unknown) =>
      each !== null && typeof each === 'object' && !Array.isArray(each)
        ? Object.fromEntries(Object.entries(each).sort(([x], [y]) => (x < y ? -1 : 1)))
        : each,
    )
  const isNothing = (value: unknown) => value === null || value === undefined || isEmptyList(value)
  return (isNothing(a) && isNothing(b)) || sorted(a) === sorted(b)
}
