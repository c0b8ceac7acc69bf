/**
 * Converts a sent tool source to a stored source. Secrets are stored separately. If a secret is left out, the stored
 * secret is taken over.
 */
import type { Issue } from '../records/resource-fault.ts'
import {
  type BuiltinConfig,
  type BuiltinName,
  noSecrets,
  type ToolSecrets,
  type ToolSource,
  type WantedSource,
  type WebhookSource,
} from '../records/tool.ts'
import { issuesOfTransferConfig, transferSettings } from '../transfers/settings/transfer-config.ts'
import type { TransferRules } from '../transfers/settings/wanted-transfer.ts'
import { joinAuthHeaders } from '../webhooks/auth-headers.ts'
import { headerIssues, isSameOrigin, urlProblem } from '../webhooks/target.ts'

type WantedWebhook = Extract<WantedSource, { kind: 'webhook' }>

/** The stored source before the change. */
type Replaced = { source: ToolSource; secrets: () => ToolSecrets }

/** Checks the sent source without the stored source. */
export function issuesOfSource(source: WantedSource, rules: TransferRules): Issue[] {
  if (source.kind === 'builtin') return configIssues(source.name, source.config ?? {}, rules)
  if (source.kind === 'inline') return []
  const problem = urlProblem(source.url, rules.hosts)
  return [
    ...(problem ? [{ path: ['source', 'url'], problem }] : []),
    ...headerIssues(
      { path: ['source', 'headers'], names: Object.keys(source.headers ?? {}) },
      { path: ['source', 'authHeaders'], names: (source.authHeaders ?? []).map(({ name }) => name) },
    ),
  ]
}

/** The settings for each built-in function. */
const settingsOf: Record<BuiltinName, readonly (keyof BuiltinConfig)[]> = {
  end_call: ['enabled'],
  send_dtmf: [],
  schedule_callback: ['maxDaysAhead', 'phoneNumberId'],
  transfer_call: transferSettings,
}

function configIssues(name: BuiltinName, config: BuiltinConfig, rules: TransferRules): Issue[] {
  const taken: readonly string[] = settingsOf[name]
  const others = Object.keys(config).filter((setting) => !taken.includes(setting))
  const issues: Issue[] = [
    ...others.map((setting): Issue => ({ path: [setting], problem: { kind: 'setting_not_taken' } })),
    ...(name === 'transfer_call' ? issuesOfTransferConfig(config, rules) : []),
  ]
  return issues.map(({ path, problem }) => ({ path: ['source', 'config', ...path], problem }))
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
  const storedSecrets = () => (stored && replaced ? replaced.secrets() : noSecrets)
  const headers = joinAuthHeaders(
    ['source', 'authHeaders'],
    wanted.authHeaders ?? [],
    { names: stored?.authHeaders ?? [], values: () => storedSecrets().authHeaders },
    isMoved,
  )
  const isSecretLost = isMoved && stored.hasSecret && wanted.secret === undefined
  const secretIssues: Issue[] = isSecretLost
    ? [{ path: ['source', 'secret'], problem: { kind: 'secret_of_other_origin' } }]
    : []
  const secret = wanted.secret === undefined && !isMoved ? storedSecrets().secret : (wanted.secret ?? null)
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
  return { source, secrets: { secret, authHeaders: headers.values }, issues: [...secretIssues, ...headers.issues] }
}
