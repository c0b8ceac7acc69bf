/**
 * Rules for an agent's settings, in addition to the rules in the schema. Each rule returns the issues that it finds in
 * the request's settings.
 */
import type { Catalog } from '../catalog/catalog.ts'
import { readLanguage } from '../catalog/language.ts'
import { type Stage, stages } from '../ports/model.ts'
import type { AgentChange, AgentSettings, TurnHandling } from '../records/agent.ts'
import { Fault } from '../records/fault.ts'
import { repeatedItems, repeatedNames } from '../records/repeated.ts'
import type { Issue, Problem, ValuePath } from '../records/resource-fault.ts'
import { isTimezone } from '../records/time-zone.ts'
import { routingOfName } from '../routing/model-name.ts'
import { extractionIssues } from '../webhooks/check-extraction.ts'
import { turnDelays } from './turn-delays.ts'

/** Parses the text as a template without rendering it. Returns null if the template is valid. */
export type CheckTemplate = (text: string) => Problem | null

export type AgentRules = {
  catalog: Catalog
  checkTemplate: CheckTemplate
  /** Lets other requests run before the returned promise resolves. Checks for several organizations take turns. */
  pause: (organizationId: string) => Promise<void>
}

/** Checks the request's settings without regard to the stored settings. */
export async function issuesOfSettings(
  settings: AgentChange,
  rules: AgentRules,
  organizationId: string,
): Promise<Issue[]> {
  // This call loads the rows of newly detected providers into the catalog.
  rules.catalog.version()
  return [
    ...languageIssues(settings),
    ...(await templateIssues(settings, rules, organizationId)),
    ...modelIssues(settings, rules.catalog),
    ...providerIssues(settings, rules.catalog),
    ...delayIssues(settings.turnHandling ?? {}),
    ...timezoneIssues(settings),
    ...repeatedItems(['clientOverrides'], settings.clientOverrides ?? []),
    ...repeatedNames(['promptVariables'], settings.promptVariables ?? []),
    ...extractionIssues(['extractionFields'], settings.extractionFields ?? []),
  ]
}

/** Checks the agent's settings together after a change, because a changed setting may contradict a stored setting. */
export function issuesOfWhole({ firstMessageMode, firstMessage }: AgentSettings): Issue[] {
  if (firstMessageMode !== 'message' || firstMessage) return []
  return [{ path: ['firstMessageMode'], problem: { kind: 'first_message_missing' } }]
}

function languageIssues({ intent, sttOptions }: AgentChange): Issue[] {
  const language = sttOptions?.language
  return [
    ...(intent && !isLanguage(intent.language) ? [unknownLanguage(['intent', 'language'])] : []),
    ...(language !== undefined && language !== 'auto' && !isLanguage(language)
      ? [unknownLanguage(['sttOptions', 'language'])]
      : []),
  ]
}

function isLanguage(tag: string): boolean {
  try {
    readLanguage(tag)
    return true
  } catch {
    return false
  }
}

function unknownLanguage(path: ValuePath): Issue {
  return { path, problem: { kind: 'language_unknown' } }
}

/** Checks each template after a pause: parsing takes up to 30 ms, and an agent has up to 14 templates. */
async function templateIssues(
  settings: AgentChange,
  { checkTemplate, pause }: AgentRules,
  organizationId: string,
): Promise<Issue[]> {
  const { systemPrompt, firstMessage, voicemail, idleRePrompts, endCallMessage } = settings
  const templates: [ValuePath, string | null | undefined][] = [
    [['systemPrompt'], systemPrompt],
    [['firstMessage'], firstMessage],
    [['voicemail', 'message'], voicemail?.message],
    ...(idleRePrompts?.messages ?? []).map((text, at): [ValuePath, string] => [
      ['idleRePrompts', 'messages', at],
      text,
    ]),
    [['endCallMessage'], endCallMessage],
  ]
  const issues: Issue[] = []
  for (const [path, text] of templates) {
    if (!text) continue
    await pause(organizationId)
    const problem = checkTemplate(text)
    if (problem !== null) issues.push({ path, problem })
  }
  return issues
}

function modelIssues({ llmOptions, ttsOptions }: AgentChange, catalog: Catalog): Issue[] {
  return [
    ...modelIssue(catalog, 'llm', ['llmOptions', 'model'], llmOptions?.model),
    ...modelIssue(catalog, 'tts', ['ttsOptions', 'model'], ttsOptions?.model),
  ]
}

function modelIssue(catalog: Catalog, stage: Stage, path: ValuePath, name: string | undefined): Issue[] {
  try {
    routingOfName(catalog, { stage, name })
    return []
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return [{ path, problem: { kind: 'model_unknown', fault: error.data } }]
  }
}

function providerIssues({ stackPreferences }: AgentChange, catalog: Catalog): Issue[] {
  return stages.flatMap((stage) =>
    (stackPreferences?.allowedProviders?.[stage] ?? []).flatMap((id, at): Issue[] =>
      exists(catalog, stage, id)
        ? []
        : [{ path: ['stackPreferences', 'allowedProviders', stage, at], problem: { kind: 'provider_unknown' } }],
    ),
  )
}

/**
 * Returns true if the catalog contains `id`, which is `<provider>` or `<provider>:<model>`. The model may be
 * unavailable at present.
 */
function exists(catalog: Catalog, stage: Stage, id: string): boolean {
  const at = id.indexOf(':')
  if (at < 0) return catalog.hasProvider(id)
  const [provider, model] = [id.slice(0, at), id.slice(at + 1)]
  return (catalog.find(stage, provider, model) ?? catalog.unlisted(stage, provider, model)) !== undefined
}

function delayIssues({ profile = 'conversational', endpointing }: TurnHandling): Issue[] {
  const { minDelay, maxDelay } = { ...turnDelays[profile], ...endpointing }
  if (maxDelay >= minDelay) return []
  const isMaxSent = endpointing?.maxDelay !== undefined
  const path = ['turnHandling', 'endpointing', isMaxSent ? 'maxDelay' : 'minDelay']
  return [{ path, problem: { kind: 'max_delay_too_short' } }]
}

function timezoneIssues({ timezone }: AgentChange): Issue[] {
  if (!timezone || isTimezone(timezone)) return []
  return [{ path: ['timezone'], problem: { kind: 'timezone_unknown' } }]
}
