/** Checks the rules for a phone number's template that a schema cannot express. */
import { placeholdersOnly } from '../phone/dispatch-template.ts'
import { issuesOfMetadata } from '../records/metadata.ts'
import type { Issue, ValuePath } from '../records/resource-fault.ts'
import { issuesOfRequest, type SessionRules } from '../sessions/check.ts'
import type { SessionRequest } from '../sessions/start.ts'

type Template = Readonly<Record<string, unknown>>

/** Checks the template. Paths in the issues begin with `path`, the template's path in the request. */
export async function issuesOfTemplate(
  path: ValuePath,
  template: Template,
  rules: SessionRules,
  organizationId: string,
): Promise<Issue[]> {
  const bounds = issuesOfMetadata(template, path)
  if (bounds.length > 0) return bounds
  // Checks the template as if it had an agent, because the template may set some fields of `intent` and the agent the
  // other fields.
  const request = { ...(template as SessionRequest), agentId: 'any' }
  const ofSettings = await issuesOfRequest(request, rules, organizationId)
  return [
    ...ofSettings.map((issue): Issue => ({ ...issue, path: [...path, ...issue.path] })),
    ...placeholderIssues(path, template),
    ...secretIssues(path, request.tools ?? []),
  ]
}

function placeholderIssues(path: ValuePath, value: unknown): Issue[] {
  if (typeof value === 'string')
    return placeholdersOnly(value) ? [] : [{ path, problem: { kind: 'placeholder_unknown' } }]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) => placeholderIssues([...path, name], inner))
}

/** Refuses webhook secrets in a template, because the API returns the stored template to clients. */
function secretIssues(path: ValuePath, tools: NonNullable<SessionRequest['tools']>): Issue[] {
  return tools.flatMap(({ source }, at) =>
    (['secret', 'authHeaders'] as const)
      .filter((name) => (source as Partial<Record<typeof name, unknown>>)[name] != null)
      .map((name): Issue => ({ path: [...path, 'tools', at, 'source', name], problem: { kind: 'secret_shown' } })),
  )
}
