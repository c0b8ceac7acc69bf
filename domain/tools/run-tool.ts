/**
 * Runs a session's webhook tools. It sends the request in the format of the hosted product whose contract is served
 * here, retries once with the same id, and describes failures in words for the LLM.
 */
import type { RunTool, ToolFailure, ToolRequest, ToolResult } from '../conversation/parts/deps.ts'
import type { Clock, Log } from '../ports/system.ts'
import type { Call } from '../records/call.ts'
import { noSecrets, type ToolSecrets, type WebhookSource } from '../records/tool.ts'
import { type WebhookAnswer, type WebhookClient, WebhookError, type WebhookFailure } from '../webhooks/client.ts'
import { webhookHeaders } from '../webhooks/signature.ts'

export type RunToolDeps = {
  client: Pick<WebhookClient, 'post'>
  clock: Clock
  log: Log
  /** Returns the paths in a value at which the value breaks a JSON Schema, in bounded time. */
  valueFaults: (schema: object, value: unknown) => readonly string[]
  isPhoneNumber: RunTool['isPhoneNumber']
  transfer: RunTool['transfer']
  /** Returns the secrets for a webhook tool in this call. */
  secretsOf: (call: Call, toolName: string) => ToolSecrets | undefined
  /** Returns the organization's signing secrets, for tools without a separate secret. */
  workspaceSecrets: (organizationId: string) => Promise<readonly string[]>
}

export const timeoutMsDefault = 10_000
const retryAfterMs = 200
const retriedStatuses = [502, 503, 504]
export const answerBytesMax = 65_536
const detailCharactersMax = 1024

export function createRunTool(deps: RunToolDeps): RunTool {
  return {
    check: ({ parameters }, args) => deps.valueFaults(parameters, args),
    isPhoneNumber: deps.isPhoneNumber,
    transfer: deps.transfer,
    webhook: async (call, request) => {
      const { source } = request.tool
      if (source.kind !== 'webhook') return { failure: { code: 'not_allowed' } }
      return send(deps, call, request, source)
    },
  }
}

async function send(deps: RunToolDeps, call: Call, request: ToolRequest, source: WebhookSource): Promise<ToolResult> {
  const { clock, client } = deps
  const timeout = new AbortController()
  const cancelTimeout = clock.after(source.timeoutMs ?? timeoutMsDefault, () => timeout.abort())
  const secrets = deps.secretsOf(call, request.tool.name) ?? noSecrets
  const id = keyOf(call, request)
  const body = bodyOf(call, request, id)
  // Tools of many organizations can have the same host, so a hanging tool must not delay another tool.
  const owner = call.organizationId
  const lane = `${owner} ${request.tool.name}`
  const post = (signing: readonly string[]) => {
    const signed = webhookHeaders({ id, nowMs: clock.nowMs(), body }, signing)
    const headers = { ...request.trace?.headers, ...headersOf(source, secrets), ...signed }
    return client.post({ url: source.url, headers, body, signal: timeout.signal, answerBytesMax, lane, owner })
  }
  try {
    const signing = secrets.secret === null ? await deps.workspaceSecrets(call.organizationId) : [secrets.secret]
    const first = await post(signing).catch((error: unknown) => error)
    if (!isRetried(first)) return resultOf(first, 1)
    await wait(clock, retryAfterMs, timeout.signal)
    if (timeout.signal.aborted) return resultOf(first instanceof WebhookError ? timedOut : first, 1)
    const second = await post(signing).catch((error: unknown) => error)
    return resultOf(second, 2)
  } catch (err) {
    deps.log.error({ err, callId: call.id, ...request.trace?.logFields }, 'tool not run')
    return { failure: { code: 'failed' } }
  } finally {
    cancelTimeout()
  }
}

/**
 * Returns the idempotency key for a tool call. An LLM's call id may contain characters that cannot be in a header, so
 * they are replaced.
 */
function keyOf(call: Call, { callId }: ToolRequest): string {
  return `${call.id}:${callId.replaceAll(/[^\x21-\x7e]/g, '_')}`
}

function bodyOf(call: Call, { tool, args, callId }: ToolRequest, key: string): string {
  return JSON.stringify({
    tool: tool.name,
    args,
    session_id: call.id,
    call_id: call.id,
    agent_id: call.agentId,
    tool_call_id: callId,
    idempotency_key: key,
    metadata: call.metadata,
    ...(call.test && { test: true }),
  })
}

export function headersOf({ headers, authHeaders }: WebhookSource, secrets: ToolSecrets): Record<string, string> {
  const secret = (authHeaders ?? []).map((name): [string, string] => [
    name,
    secrets.authHeaders[name.toLowerCase()] ?? '',
  ])
  return { 'content-type': 'application/json', 'user-agent': 'Parley', ...headers, ...Object.fromEntries(secret) }
}

function isRetried(outcome: unknown): boolean {
  if (outcome instanceof WebhookError) return unsent.includes(outcome.failure)
  return isAnswer(outcome) && retriedStatuses.includes(outcome.status)
}

const unsent: readonly WebhookFailure[] = ['dns', 'tls', 'not_connected']
const timedOut = new WebhookError('cancelled', undefined)

const codes: Readonly<Record<WebhookFailure, ToolFailure['code']>> = {
  dns: 'unreachable',
  tls: 'unreachable',
  not_connected: 'unreachable',
  broken_off: 'unreachable',
  blocked: 'blocked',
  busy: 'failed',
  // Only the time-out cancels a webhook, so this failure means a time-out.
  cancelled: 'timeout',
  timed_out: 'timeout',
  not_sendable: 'failed',
}

export function resultOf(outcome: unknown, attempts: number): ToolResult {
  if (outcome instanceof WebhookError) return { failure: { code: codes[outcome.failure] }, attempts }
  if (!isAnswer(outcome)) throw outcome
  const { status, body, isCut } = outcome
  const text = textOf(body)
  const requests = { httpStatus: status, attempts }
  if (status < 200 || status > 299) {
    const detail = [...text.slice(0, 2 * detailCharactersMax)].slice(0, detailCharactersMax).join('')
    return { failure: { code: 'http_error', status, ...(detail !== '' && { detail }) }, ...requests }
  }
  return isCut ? { failure: { code: 'too_large' }, ...requests } : { result: text, ...requests }
}

function isAnswer(outcome: unknown): outcome is WebhookAnswer {
  return typeof outcome === 'object' && outcome !== null && 'status' in outcome
}

/** Decodes a webhook's response without NUL, because the database does not accept NUL in text. */
function textOf(body: Uint8Array): string {
  return new TextDecoder().decode(body).replaceAll('\0', '')
}

function wait(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      cancel()
      signal.removeEventListener('abort', done)
      resolve()
    }
    const cancel = clock.after(ms, done)
    signal.addEventListener('abort', done)
  })
}
