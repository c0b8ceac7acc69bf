/** Reads and changes one agent: its settings, its versions and its tools. */
import { queryOptions, useMutation } from '@tanstack/react-query'
import type { AgentChange, NewToolInput, ToolChange } from '../../../generated/clients/typescript/models/platform.ts'
import { PlatformApiError } from '../../../generated/clients/typescript/platform.ts'
import { refreshAgents } from './agents.ts'
import { platform } from './clients.ts'
import { pagesQuery, queries } from './queries.ts'

const pageVersions = 25

export const agentQuery = (id: string) =>
  queryOptions({
    queryKey: ['agents', id],
    queryFn: async ({ signal }) => (await platform.getAgent({ signal, path: { id } })).body,
  })

export const toolsQuery = (id: string) =>
  queryOptions({
    queryKey: ['agents', id, 'tools'],
    queryFn: async ({ signal }) => (await platform.listAgentTools({ signal, path: { id } })).body,
  })

export const versionsQuery = (id: string) =>
  pagesQuery({
    queryKey: ['agents', id, 'versions'],
    limit: pageVersions,
    read: (signal, page) => platform.listAgentVersions({ signal, path: { id }, query: page }),
    next: ({ nextCursor }) => nextCursor,
  })

/** Reads a version, once, because a version never changes. */
export const versionQuery = (id: string, version: number) =>
  queryOptions({
    queryKey: ['agents', id, 'versions', version],
    queryFn: async ({ signal }) =>
      (await platform.getAgentVersion({ signal, path: { id, version: String(version) } })).body,
    staleTime: Number.POSITIVE_INFINITY,
  })

export const voicesQuery = queryOptions({
  queryKey: ['voices'],
  queryFn: async ({ signal }) => (await platform.listVoices({ signal })).body.voices,
})

/**
 * Changes the agent. `version` is the version on the page: if somebody else has changed the agent since, the server
 * refuses.
 */
export const useUpdateAgent = (id: string) =>
  useMutation({
    mutationFn: async ({ version, change }: { version: number; change: AgentChange }) =>
      (await platform.updateAgent({ path: { id }, header: { 'if-match': `"${version}"` }, body: change })).body,
    onSuccess: refreshAgents,
  })

export const isConflict = (error: unknown) => error instanceof PlatformApiError && error.code === 'PRECONDITION_FAILED'

export const useDeleteAgent = (id: string) =>
  useMutation({
    mutationFn: async () => (await platform.deleteAgent({ path: { id } })).body,
    onSuccess: () => {
      queries.removeQueries({ queryKey: ['agents', id] })
      return queries.invalidateQueries({ queryKey: ['agents'], exact: true })
    },
  })

export const useRestoreVersion = (id: string) =>
  useMutation({
    mutationFn: async (version: number) =>
      (await platform.restoreAgentVersion({ path: { id, version: String(version) } })).body,
    onSuccess: refreshAgents,
  })

export const useCreateTool = (id: string) =>
  useMutation({
    mutationFn: async (body: NewToolInput) => (await platform.createAgentTool({ path: { id }, body })).body,
    onSuccess: refreshAgents,
  })

export const useUpdateTool = (id: string, toolId: string) =>
  useMutation({
    mutationFn: async (body: ToolChange) => (await platform.updateAgentTool({ path: { id, toolId }, body })).body,
    onSuccess: refreshAgents,
  })

export const useDeleteTool = (id: string) =>
  useMutation({
    mutationFn: async (toolId: string) => (await platform.deleteAgentTool({ path: { id, toolId } })).body,
    onSuccess: refreshAgents,
  })
