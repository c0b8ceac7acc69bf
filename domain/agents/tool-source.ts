/**
 * Converts a tool's source from a request to its stored form. The source is a webhook, a built-in function or a
 * function in the page. Secrets are stored separately. If the request contains no value for a secret, the stored value
 * is kept.
 */
import type { Issue } from '../records/resource-fault.ts'
import {
  type BuiltinConfig,
  type BuiltinName,
  noSecrets,
  type ToolSecrets,
  type ToolSource,
  type ToolSourceInput,
  type WebhookSource,
} from '../records/tool.ts'
import type { TransferRules } from '../transfers/settings/read-transfer.ts'
import { issuesOfTransferConfig, transferSettings } from '../transfers/settings/transfer-config.ts'
import { joinAuthHeaders } from '../webhooks/auth-headers.ts'
import { headerIssues, isSameOrigin, urlProblem } from '../webhooks/target.ts'

type WebhookInput = Extract<ToolSourceInput, { kind: 'webhook' }>

/** The stored tool source that a change to the tool replaces. */
type Replaced = { source: ToolSource; secrets: () => ToolSecrets }

/** Checks the source in the request without regard to the stored source. */
export function issuesOfSource(source: ToolSourceInput, rules: TransferRules): Issue[] {
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

/** The settings that each built-in function accepts. */
const settingsOf: Record<BuiltinName, readonly (keyof BuiltinConfig)[]> = {
  end_call: ['enabled'],
  send_dtmf: [],
  schedule_callback: ['maxDaysAhead', 'phoneNumberId'],
  transfer_call: transferSettings,
}

function configIssues(name: BuiltinName, config: BuiltinConfig, rules: TransferRules): Issue[] {
  const allowed: readonly string[] = settingsOf[name]
  const others = Object.keys(config).filter((setting) => !allowed.includes(setting))
  const issues: Issue[] = [
    ...others.map((setting): Issue => ({ path: [setting], problem: { kind: 'setting_not_taken' } })),
    ...(name === 'transfer_call' ? issuesOfTransferConfig(config, rules) : []),
  ]
  return issues.map(({ path, problem }) => ({ path: ['source', 'config', ...path], problem }))
}

type Made = { source: ToolSource; secrets: ToolSecrets; issues: Issue[] }

/** Makes the tool source to store. `replaced` is null for a new tool. */
export function makeSource(input: ToolSourceInput, replaced: Replaced | null): Made {
  if (input.kind === 'webhook') return makeWebhook(input, replaced)
  const source: ToolSource =
    input.kind === 'builtin'
      ? { kind: 'builtin', name: input.name, config: input.config ?? null }
      : { kind: 'inline', timeoutMs: input.timeoutMs ?? null }
  return { source, secrets: noSecrets, issues: [] }
}

function makeWebhook(input: WebhookInput, replaced: Replaced | null): Made {
  const stored = replaced?.source.kind === 'webhook' ? replaced.source : null
  const isMoved = stored !== null && !isSameOrigin(stored.url, input.url)
  const storedSecrets = () => (stored && replaced ? replaced.secrets() : noSecrets)
  const headers = joinAuthHeaders(
    ['source', 'authHeaders'],
    input.authHeaders ?? [],
    { names: stored?.authHeaders ?? [], values: () => storedSecrets().authHeaders },
    isMoved,
  )
  const isSecretLost = isMoved && stored.hasSecret && input.secret === undefined
  const secretIssues: Issue[] = isSecretLost
    ? [{ path: ['source', 'secret'], problem: { kind: 'secret_of_other_origin' } }]
    : []
  const secret = input.secret === undefined && !isMoved ? storedSecrets().secret : (input.secret ?? null)
  const source: WebhookSource = {
    kind: 'webhook',
    url: input.url,
    hasSecret: secret !== null,
    headers: input.headers ?? null,
    authHeaders: input.authHeaders?.map(({ name }) => name) ?? null,
    timeoutMs: input.timeoutMs ?? null,
    responseMode: input.responseMode ?? null,
    asyncAck: input.asyncAck ?? null,
  }
  return { source, secrets: { secret, authHeaders: headers.values }, issues: [...secretIssues, ...headers.issues] }
}
