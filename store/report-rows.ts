/** How a report is read from its row. */
import type { Tenant } from '../domain/access/organization.ts'
import type { EndpointData } from '../domain/calls/extraction.ts'
import type { Report } from '../domain/calls/report.ts'
import { ofCallId } from './call-rows.ts'
import type { Tx } from './connect.ts'

type Row = Omit<Report, 'analysisCompletedAtMs' | 'createdAtMs' | 'updatedAtMs'> & {
  analysisCompletedAt: Date | null
  createdAt: Date
  updatedAt: Date
}

/** The endpoints that matched when the call ended, by their ids. */
export type Receivers = { report: readonly string[]; analysis: readonly string[] }

export async function readReport(tx: Tx, tenant: Tenant, id: string): Promise<Report | null> {
  const [row] = await tx<Row[]>`
    select version, analysis_status as "analysisStatus", summary, outcome, structured_data as "structuredData",
      custom_data as "customData", analysis_provider as "analysisProvider", analysis_model as "analysisModel",
      analysis_error as "analysisError", analysis_completed_at as "analysisCompletedAt", created_at as "createdAt",
      updated_at as "updatedAt"
    from call_reports ${ofCallId(tx, tenant, id)}`
  if (!row) return null
  const { analysisCompletedAt, createdAt, updatedAt, ...report } = row
  return {
    ...report,
    analysisCompletedAtMs: analysisCompletedAt?.getTime() ?? null,
    createdAtMs: createdAt.getTime(),
    updatedAtMs: updatedAt.getTime(),
  }
}

/** Null: the call has no report, or nobody receives it. */
export async function readReceivers(
  tx: Tx,
  tenant: Tenant,
  id: string,
): Promise<{ receivers: Receivers; endpointData: EndpointData } | null> {
  const [row] = await tx<{ receivers: Receivers | null; endpointData: EndpointData | null }[]>`
    select receivers, endpoint_data as "endpointData" from call_reports ${ofCallId(tx, tenant, id)}`
  if (!row?.receivers) return null
  return { receivers: row.receivers, endpointData: row.endpointData ?? {} }
}
