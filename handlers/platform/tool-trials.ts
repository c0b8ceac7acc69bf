/** The operation that tries a webhook tool. */
import { type Caller, tenantOf } from '../../domain/records/organization.ts'
import type { TryTool } from '../../domain/tools/try-tool.ts'
import type { PlatformHandlers } from '../../generated/platform/handlers.ts'

export function testAgentTool(tryTool: TryTool): PlatformHandlers<Caller>['testAgentTool'] {
  return async ({ path, body }, { caller }) => {
    const ids = { agentId: path.id, toolId: path.toolId }
    const { httpStatus, result, durationMs, request } = await tryTool(tenantOf(caller), ids, body?.args ?? {})
    const failure = 'failure' in result ? result.failure : null
    const error = failure && { code: failure.code, status: failure.status ?? null, detail: failure.detail ?? null }
    return {
      status: 200,
      body: {
        ok: error === null,
        httpStatus,
        result: 'result' in result ? result.result : null,
        error,
        durationMs,
        attempts: 1,
        request,
      },
    }
  }
}
