/**
 * Reads a chat body's settings for providers without chat completions. If the model does not support a setting, it is
 * left out and named to the client in `x-service-ignored`, because clients send many settings they can do without. A
 * tool or a format is never left out. If it cannot be translated, the request is refused.
 */
import type { Llm, PassThroughRequest } from '../../../domain/ports/llm.ts'
import { type LlmSetting, type LlmSettings, lackingAllBut, settingsIn } from '../../../domain/ports/llm-settings.ts'
import { namedFields } from './ignored-fields.ts'

type Body = PassThroughRequest['body']

/** Returns the first field with a tool or format unknown to the domain. */
export function refusedIn(body: Body): string | undefined {
  return [...refused].find(([field, refuses]) => asks(body[field]) && refuses(body[field]))?.[0]
}

/** A test for each field's value. It is a map, because an object would also find inherited names such as `toString`. */
type ByField = ReadonlyMap<string, (value: unknown) => boolean>

const refused: ByField = new Map<string, (value: unknown) => boolean>([
  ['audio', () => true],
  ['modalities', (value) => !Array.isArray(value) || value.some((each) => each !== 'text')],
  ['functions', (value) => !isEmptyList(value)],
  ['function_call', (value) => value !== 'none' && value !== 'auto'],
  ['web_search_options', () => true],
])

/** Returns the body's settings, without any setting unsupported by this model. */
export function settingsFor(model: string, body: Body, llm: Llm): LlmSettings {
  const settings = settingsOf(body)
  for (const lacking of lackingOf(model, settings, llm)) delete settings[lacking]
  return settings
}

/** Returns the names of the body's fields withheld from this model, in body order. */
export function ignoredIn(body: Body, model: string, llm: Llm): readonly string[] {
  const settings = settingsOf(body)
  const acceptedFields = new Set<string>(settingsIn(settings).map((setting) => fieldOf[setting]))
  for (const lacking of lackingOf(model, settings, llm)) acceptedFields.delete(fieldOf[lacking])
  const ignored = Object.keys(body).filter(
    (field) =>
      !understood.has(field) && !acceptedFields.has(field) && asks(body[field]) && !neutral.get(field)?.(body[field]),
  )
  return namedFields(ignored)
}

/** Fields that other code reads, or that `refusedIn` refuses. */
const understood: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'max_completion_tokens',
  'max_tokens',
  'max_token',
  'stream',
  'stream_options',
  'tools',
  'tool_choice',
  'response_format',
  'reasoning_effort',
  ...refused.keys(),
])

const fieldOf: Readonly<Record<LlmSetting, string>> = {
  temperature: 'temperature',
  topP: 'top_p',
  topK: 'top_k',
  stop: 'stop',
  seed: 'seed',
  frequencyPenalty: 'frequency_penalty',
  presencePenalty: 'presence_penalty',
  user: 'user',
  parallelToolCalls: 'parallel_tool_calls',
}

/** For each field, the values that mean the same as an absent field. */
const neutral: ByField = new Map<string, (value: unknown) => boolean>([
  ['n', (value) => value === 1],
  ['logprobs', (value) => value === false],
  ['top_logprobs', (value) => value === 0],
  ['logit_bias', (value) => typeof value === 'object' && Object.keys(value as object).length === 0],
  ['stop', isEmptyList],
  ['frequency_penalty', (value) => value === 0],
  ['presence_penalty', (value) => value === 0],
  ['parallel_tool_calls', (value) => value === true],
  ['store', (value) => value === false],
  ['service_tier', (value) => value === 'auto' || value === 'default'],
  ['metadata', (value) => typeof value === 'object' && Object.keys(value as object).length === 0],
])

/** Reads the settings. A value with a wrong type is not a setting, so its field counts as ignored. */
function settingsOf(body: Body): LlmSettings {
  const settings: LlmSettings = {}
  const number = (setting: 'temperature' | 'topP' | 'topK' | 'seed' | 'frequencyPenalty' | 'presencePenalty') => {
    const field = fieldOf[setting]
    const value = body[field]
    if (typeof value === 'number' && !neutral.get(field)?.(value)) settings[setting] = value
  }
  for (const each of ['temperature', 'topP', 'topK', 'seed', 'frequencyPenalty', 'presencePenalty'] as const)
    number(each)
  const stop = stopOf(body['stop'])
  if (stop.length > 0) settings.stop = stop
  if (typeof body['user'] === 'string') settings.user = body['user']
  if (body['parallel_tool_calls'] === false) settings.parallelToolCalls = false
  return settings
}

function stopOf(value: unknown): readonly string[] {
  const list: unknown[] = Array.isArray(value) ? value : [value]
  return list.every((each) => typeof each === 'string' && each !== '') ? (list as string[]) : []
}

const lacksByDefault = lackingAllBut('temperature', 'topP')

function lackingOf(model: string, settings: LlmSettings, { lacks = lacksByDefault }: Llm): readonly LlmSetting[] {
  return lacks(model, settings)
}

function asks(value: unknown): boolean {
  return value !== undefined && value !== null
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0
}
