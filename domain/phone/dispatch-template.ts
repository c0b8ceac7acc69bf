/**
 * Renders a phone number's template for one inbound call. If a key in the template names a session setting, its value
 * applies unless the agent has this setting. All other keys become metadata.
 */
import type { AgentSettings } from '../records/agent.ts'
import type { CallPhone } from '../records/call.ts'
import type { SessionRequest } from '../sessions/start.ts'

type Numbers = Pick<CallPhone, 'from' | 'to' | 'forwardedFrom'>

export type Dispatched = { request: SessionRequest; tags: Record<string, string> }

/** The names of settings in a template, with the agent's names for the same settings. */
const settings = {
  intent: 'intent',
  constraints: 'stackPreferences',
  systemPrompt: 'systemPrompt',
  voice: 'voice',
  firstMessage: 'firstMessage',
  firstMessageMode: 'firstMessageMode',
  llm: 'llmOptions',
  sttOptions: 'sttOptions',
  ttsOptions: 'ttsOptions',
  backgroundAudio: 'backgroundAudio',
  speechNormalization: 'speechNormalization',
  idleRePrompts: 'idleRePrompts',
  turnHandling: 'turnHandling',
  maxDurationSeconds: 'maxDurationSeconds',
  silenceTimeoutSeconds: 'silenceTimeoutSeconds',
  endCallMessage: 'endCallMessage',
  fallbackMessage: 'fallbackMessage',
  maxToolHops: 'maxToolHops',
  timezone: 'timezone',
  recording: 'recording',
} as const satisfies Partial<Record<keyof SessionRequest, keyof AgentSettings>>

const isSetting = (key: string): key is keyof typeof settings => Object.hasOwn(settings, key)

/** `template` was checked when it was stored. `toolsOfAgent` lists the names of the agent's tools. */
export function dispatchedBy(
  template: Readonly<Record<string, unknown>> | null,
  agent: AgentSettings | null,
  numbers: Numbers,
  toolsOfAgent: readonly string[] = [],
): Dispatched {
  const { webhookTags, metadata, variables, tools, ...rest } = rendered(template ?? {}, valuesOf(numbers)) as Template
  const sessionSettings: Record<string, unknown> = {}
  const others: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(rest)) {
    if (!isSetting(key)) others[key] = value
    else if (agent?.[settings[key]] === undefined) sessionSettings[key] = value
  }
  return {
    request: {
      ...(sessionSettings as SessionRequest),
      ...(variables && { variables: withoutNulls(variables) }),
      // A tool in a request replaces the agent's tool with the same name. A tool in a template must not replace it, so
      // such a tool is dropped.
      ...(tools !== undefined && { tools: tools && tools.filter(({ name }) => !toolsOfAgent.includes(name)) }),
      metadata: { ...others, ...metadata },
    },
    tags: withoutNulls(webhookTags ?? {}),
  }
}

/** Drops variables and tags without a value, for example if a placeholder's number is withheld. */
function withoutNulls(texts: Readonly<Record<string, string | null>>): Record<string, string> {
  const entries = Object.entries(texts).filter((entry): entry is [string, string] => entry[1] !== null)
  return Object.fromEntries(entries)
}

type Template = Pick<SessionRequest, 'tools'> & {
  variables?: Record<string, string | null> | null
  webhookTags?: Record<string, string | null> | null
  metadata?: Record<string, unknown> | null
}

const valuesOf = ({ from, to, forwardedFrom }: Numbers): Record<string, string | null> => ({
  callerNumber: from,
  dialedNumber: to,
  forwardedFromNumber: forwardedFrom,
})

const placeholder = /\{\{\s*(callerNumber|dialedNumber|forwardedFromNumber)\s*\}\}/g
const lonePlaceholder = /^\{\{\s*(callerNumber|dialedNumber|forwardedFromNumber)\s*\}\}$/

/** Returns true if every placeholder in the text is known. */
export function placeholdersOnly(text: string): boolean {
  return !text.replace(placeholder, '').includes('{{')
}

/**
 * Fills in the placeholders. A text that is only a placeholder becomes null if it has no value. In a longer text, a
 * placeholder without a value is replaced by an empty text.
 */
function rendered(value: unknown, values: Record<string, string | null>): unknown {
  if (typeof value === 'string') {
    const lone = lonePlaceholder.exec(value)?.[1]
    if (lone !== undefined) return values[lone] ?? null
    return value.replace(placeholder, (_, name: string) => values[name] ?? '')
  }
  if (Array.isArray(value)) return value.map((each) => rendered(each, values))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, rendered(each, values)]))
}
