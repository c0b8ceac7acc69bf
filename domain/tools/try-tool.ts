/**
 * Sends one request to a webhook tool outside of a call, to try it. The request is like a call's request, but it is
 * marked as `test` and is never repeated.
 */

import { admitTrial, type TrialDeps } from '../access/attempts.ts'
import type { ToolResult } from '../conversation/parts/deps.ts'
import { toolResultCharactersMax } from '../conversation/turns/tool-calls.ts'
import type { Tenant } from '../records/organization.ts'
import { type Problem, ResourceFault, requireResource } from '../records/resource-fault.ts'
import type { StoredTool, ToolStore } from '../records/tool.ts'
import type { AttemptDeps } from '../webhooks/attempt.ts'
import { webhookHeaders } from '../webhooks/signature.ts'
import { answerBytesMax, headersOf, type RunToolDeps, resultOf, timeoutMsDefault } from './run-tool.ts'

export type TryToolDeps = Pick<RunToolDeps, 'client' | 'clock' | 'workspaceSecrets'> &
  Pick<AttemptDeps, 'deadline'> &
  TrialDeps & {
    tools: Pick<ToolStore, 'listWithSecrets'>
    /** Makes a UUID. */
    id: () => string
  }

export type ToolTrial = {
  /** Null if the webhook sent no HTTP response. */
  httpStatus: number | null
  result: ToolResult
  durationMs: number
  /** The request as it was sent, without secret values. */
  request: { url: string; headers: Record<string, string>; body: string }
}

/**
 * Calls a webhook tool once for a trial. Throws ResourceFault if the tool is unknown or is not a webhook tool, or after
 * too many trials.
 */
export type TryTool = (tenant: Tenant, ids: { agentId: string; toolId: string }, args: object) => Promise<ToolTrial>

const argsBytesMax = 16_384
const mask = '***'

export function createTryTool(deps: TryToolDeps): TryTool {
  const { clock, client } = deps
  return async (tenant, { agentId, toolId }, args) => {
    const stored = (await deps.tools.listWithSecrets(tenant, agentId)).find(({ tool }) => tool.id === toolId)
    const { tool, secrets } = requireResource(stored ?? null, 'tool')
    const { source } = tool
    if (source.kind !== 'webhook') throw invalid('toolId', { kind: 'tool_not_webhook' })
    if (Buffer.byteLength(JSON.stringify(args)) > argsBytesMax)
      throw invalid('args', { kind: 'json_too_large', bytesMax: argsBytesMax })
    await admitTrial(deps, 'tool', tenant.organizationId)
    const id = `test:${deps.id()}`
    const body = bodyOf(tool, args, id)
    const { organizationId: owner } = tenant
    const signing = secrets.secret === null ? await deps.workspaceSecrets(owner) : [secrets.secret]
    const signed = webhookHeaders({ id, nowMs: clock.nowMs(), body }, signing)
    const headers = { ...headersOf(source, secrets), ...signed }
    const deadline = deps.deadline(source.timeoutMs ?? timeoutMsDefault)
    const startedMs = clock.monotonicMs()
    // Trials use separate connections, so that live calls do not wait for them.
    const lane = `test ${owner} ${tool.name}`
    const outcome: unknown = await client
      .post({ url: source.url, headers, body, signal: deadline.signal, answerBytesMax, lane, owner })
      .catch((error: unknown) => error)
      .finally(() => deadline.end())
    const durationMs = Math.round(clock.monotonicMs() - startedMs)
    const masked = { ...headers, ...Object.fromEntries((source.authHeaders ?? []).map((name) => [name, mask])) }
    const request = { url: source.url, headers: masked, body }
    return { httpStatus: statusOf(outcome), result: shortened(resultOf(outcome, 1)), durationMs, request }
  }
}

const invalid = (field: string, problem: Problem) =>
  new ResourceFault({ kind: 'invalid', issues: [{ path: [field], problem }] })

function bodyOf({ name, agentId }: StoredTool['tool'], args: object, key: string): string {
  return JSON.stringify({
    tool: name,
    args,
    session_id: null,
    call_id: null,
    agent_id: agentId,
    tool_call_id: key,
    idempotency_key: key,
    metadata: {},
    test: true,
  })
}

function statusOf(outcome: unknown): number | null {
  return typeof outcome === 'object' && outcome !== null && 'status' in outcome ? Number(outcome.status) : null
}

/** Cuts the result as in a call. */
function shortened(result: ToolResult): ToolResult {
  return 'result' in result ? { result: result.result.slice(0, toolResultCharactersMax) } : result
}
