/** Makes a stored source of one that is sent: secrets go apart, and those that are left out are taken over. */
import type { Issue, ValuePath } from '../resource-fault.ts'
import { type HostPolicy, headerIssues, isSameOrigin, urlProblem } from '../webhooks/target.ts'
import {
  type BuiltinConfig,
  type BuiltinName,
  noSecrets,
  type ToolSecrets,
  type ToolSource,
  type WantedSource,
  type WebhookSource,
} from './tool.ts'

type WantedWebhook = Extract<WantedSource, { kind: 'webhook' }>

/** The source that is replaced. */
type Replaced = { source: ToolSource; secrets: () => ToolSecrets }

/** Looks at what was sent, without what is stored. */
export function issuesOfSource(source: WantedSource, hosts: HostPolicy): Issue[] {
  if (source.kind === 'builtin') return configIssues(source.name, source.config ?? {})
  if (source.kind === 'inline') return []
  const problem = urlProblem(source.url, hosts)
  return [
    ...(problem ? [{ path: ['source', 'url'], problem }] : []),
    ...headerIssues(
      { path: ['source', 'headers'], names: Object.keys(source.headers ?? {}) },
      { path: ['source', 'authHeaders'], names: (source.authHeaders ?? []).map(({ name }) => name) },
    ),
  ]
}

/** Each built-in function takes these settings. */
const settingsOf: Record<BuiltinName, readonly (keyof BuiltinConfig)[]> = {
  end_call: ['enabled'],
  send_dtmf: [],
  schedule_callback: ['maxDaysAhead'],
}

function configIssues(name: BuiltinName, config: BuiltinConfig): Issue[] {
  const taken: readonly string[] = settingsOf[name]
  return Object.keys(config)
    .filter((setting) => !taken.includes(setting))
    .map((setting) => ({ path: ['source', 'config', setting], problem: { kind: 'setting_not_taken' } }))
}

type Made = { source: ToolSource; secrets: ToolSecrets; issues: Issue[] }

/** `replaced` is null for a new tool. */
export function makeSource(wanted: WantedSource, replaced: Replaced | null): Made {
  if (wanted.kind === 'webhook') return makeWebhook(wanted, replaced)
  const source: ToolSource =
    wanted.kind === 'builtin'
      ? { kind: 'builtin', name: wanted.name, config: wanted.config ?? null }
      : { kind: 'inline', timeoutMs: wanted.timeoutMs ?? null }
  return { source, secrets: noSecrets, issues: [] }
}

function makeWebhook(wanted: WantedWebhook, replaced: Replaced | null): Made {
  const stored = replaced?.source.kind === 'webhook' ? replaced.source : null
  const isMoved = stored !== null && !isSameOrigin(stored.url, wanted.url)
  const needsStored = wanted.secret === undefined || (wanted.authHeaders ?? []).some(({ value }) => value === undefined)
  const kept = stored && replaced && !isMoved && needsStored ? replaced.secrets() : noSecrets
  const missing = missingSecrets(wanted, stored, isMoved)
  const secret = wanted.secret === undefined ? kept.secret : wanted.secret
  const authHeaders = (wanted.authHeaders ?? []).map(({ name, value }): [string, string] => {
    const key = name.toLowerCase()
    return [key, value ?? kept.authHeaders[key] ?? '']
  })
  const source: WebhookSource = {
    kind: 'webhook',
    url: wanted.url,
    hasSecret: secret !== null,
    headers: wanted.headers ?? null,
    authHeaders: wanted.authHeaders?.map(({ name }) => name) ?? null,
    timeoutMs: wanted.timeoutMs ?? null,
    responseMode: wanted.responseMode ?? null,
    asyncAck: wanted.asyncAck ?? null,
  }
  return { source, secrets: { secret, authHeaders: Object.fromEntries(authHeaders) }, issues: missing }
}

function missingSecrets(wanted: WantedWebhook, stored: WebhookSource | null, isMoved: boolean): Issue[] {
  const names = new Set((stored?.authHeaders ?? []).map((name) => name.toLowerCase()))
  const ofOtherOrigin = (path: ValuePath): Issue => ({ path, problem: { kind: 'secret_of_other_origin' } })
  const isSecretLost = isMoved && stored?.hasSecret && wanted.secret === undefined
  return [
    ...(isSecretLost ? [ofOtherOrigin(['source', 'secret'])] : []),
    ...(wanted.authHeaders ?? []).flatMap(({ name, value }, at): Issue[] => {
      if (value !== undefined) return []
      const path = ['source', 'authHeaders', at, 'value']
      if (!names.has(name.toLowerCase())) return [{ path, problem: { kind: 'secret_missing' } }]
      return isMoved ? [ofOtherOrigin(path)] : []
    }),
  ]
}
