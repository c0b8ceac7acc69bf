/** Renders a session's templates once, when it starts. Variable values are plain text, not templates. */
import type { Agent } from '../records/agent.ts'
import { type Issue, ResourceFault, refuseIssues, type ValuePath } from '../records/resource-fault.ts'
import type { JoinedSettings } from './join.ts'

/**
 * Renders a text. `missing` lists required variables with neither a value nor a default in the text. Resolves with null
 * if the rendering takes too long. Renderings for several organizations take turns.
 */
export type RenderTemplate = (
  text: string,
  values: Readonly<Record<string, string>>,
  system: Readonly<Record<string, string>>,
  organizationId: string,
) => Promise<{ text: string; missing: readonly string[] } | null>

export type Occasion = {
  callId: string
  nowMs: number
  direction: string
  /** Null for a browser session. */
  phone: { from: string | null; to: string; forwardedFrom: string | null } | null
  /**
   * Collects variables without a value, which are rendered as empty text. If this set is null, a session with such a
   * variable is refused, because a client waits for the answer.
   */
  unset: Set<string> | null
}

/** The settings that are templates. */
export type TemplateField = 'systemPrompt' | 'firstMessage' | 'endCallMessage' | 'idleRePrompts'

export type Rendering = {
  agent: Agent | null
  variables: Readonly<Record<string, string>>
  occasion: Occasion
  organizationId: string
  render: RenderTemplate
  /**
   * Returns true if an earlier session rendered this field. The field must not be rendered again, because a variable's
   * value would then be treated as a template.
   */
  isRendered: (field: TemplateField) => boolean
}

/**
 * Renders all templates. Throws ResourceFault `variables_missing` unless missing variables are left empty, and
 * `invalid` if a template takes too long.
 */
export async function renderSettings(
  settings: JoinedSettings,
  { agent, variables, occasion, organizationId, render, isRendered }: Rendering,
): Promise<JoinedSettings> {
  const values = { ...defaultsOf(agent), ...variables }
  const system = systemValues(settings, occasion)
  const missing = new Set<string>()
  const issues: Issue[] = []
  const rendered = async (path: [TemplateField, ...ValuePath], text: string): Promise<string> => {
    if (isRendered(path[0])) return text
    const outcome = await render(text, values, system, organizationId)
    if (outcome === null) issues.push({ path, problem: { kind: 'template_too_costly' } })
    for (const name of outcome?.missing ?? []) missing.add(name)
    return outcome?.text ?? ''
  }
  const optional = async (field: 'firstMessage' | 'endCallMessage') => {
    const text = settings[field]
    return text && ((await rendered([field], text)).trim() || null)
  }
  const messages: string[] = []
  const { idleRePrompts } = settings
  for (const [at, text] of idleRePrompts.messages.entries())
    messages.push(await rendered(['idleRePrompts', 'messages', at], text))
  const whole = {
    ...settings,
    systemPrompt: await rendered(['systemPrompt'], settings.systemPrompt),
    firstMessage: await optional('firstMessage'),
    endCallMessage: await optional('endCallMessage'),
    idleRePrompts: { ...idleRePrompts, messages },
  }
  refuseIssues(issues)
  occasion.unset?.clear()
  leaveEmpty(occasion, [...missing])
  return whole
}

export type MessageOf = {
  text: string
  /** The text's path in the request. */
  path: ValuePath
  settings: Pick<JoinedSettings, 'timezone' | 'intent' | 'agentName'>
  agent: Agent | null
  variables: Readonly<Record<string, string>>
  occasion: Occasion
  organizationId: string
  render: RenderTemplate
}

/** Renders one more text for a session. Throws the same faults as `renderSettings`. */
export async function renderMessage({ text, path, settings, agent, variables, occasion, ...rest }: MessageOf) {
  const { organizationId, render } = rest
  const values = { ...defaultsOf(agent), ...variables }
  const outcome = await render(text, values, systemValues(settings, occasion), organizationId)
  if (outcome === null) refuseIssues([{ path, problem: { kind: 'template_too_costly' } }])
  leaveEmpty(occasion, outcome?.missing ?? [])
  return outcome?.text.trim() || null
}

function leaveEmpty({ unset }: Occasion, names: readonly string[]): void {
  if (unset === null && names.length > 0) throw new ResourceFault({ kind: 'variables_missing', names: [...names] })
  for (const name of names) unset?.add(name)
}

function defaultsOf(agent: Agent | null): Record<string, string> {
  const variables = agent?.settings.promptVariables ?? []
  return Object.fromEntries(
    variables.flatMap(({ name, defaultValue }) => (defaultValue === undefined ? [] : [[name, defaultValue]])),
  )
}

/**
 * Returns the values that every template can read under the name `system`. In a browser's session the phone numbers are
 * empty.
 */
function systemValues(
  { timezone, intent, agentName }: MessageOf['settings'],
  { callId, nowMs, direction, phone }: Occasion,
) {
  const parts = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat('en-CA', { timeZone: timezone, ...options }).format(nowMs)
  return {
    now: new Date(nowMs).toISOString(),
    date: parts({ year: 'numeric', month: '2-digit', day: '2-digit' }),
    time: parts({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }),
    weekday: parts({ weekday: 'long' }),
    timezone,
    call_id: callId,
    agent_name: agentName ?? '',
    language: intent.language,
    direction,
    caller_number: phone?.from ?? '',
    dialed_number: phone?.to ?? '',
    forwarded_from_number: phone?.forwardedFrom ?? '',
  }
}
