/** Reads reports from their rows. */
import type { EndpointData } from '../../domain/calls/extraction.ts'
import type { Report } from '../../domain/calls/report.ts'
import type { ReportReceivers, StoredReport } from '../../domain/calls/webhook-events.ts'
import type { Tenant } from '../../domain/records/organization.ts'
import type { Tx } from '../postgres/connect.ts'
import { ofCallId } from './call-rows.ts'

export type ReportRow = Omit<Report, 'analysisCompletedAtMs' | 'createdAtMs' | 'updatedAtMs'> & {
  analysisCompletedAt: Date | null
  createdAt: Date
  updatedAt: Date
  receivers: ReportReceivers | null
  endpointData: EndpointData | null
}

export const reportColumns = (tx: Tx) => tx`
  version, analysis_status as "analysisStatus", summary, outcome, structured_data as "structuredData",
  custom_data as "customData", analysis_provider as "analysisProvider", analysis_model as "analysisModel",
  analysis_error as "analysisError", analysis_completed_at as "analysisCompletedAt", created_at as "createdAt",
  updated_at as "updatedAt", receivers, endpoint_data as "endpointData"`

export function storedReportOf(row: ReportRow): StoredReport {
  const { receivers, endpointData, analysisCompletedAt, createdAt, updatedAt, ...report } = row
  return {
    report: {
      ...report,
      analysisCompletedAtMs: analysisCompletedAt?.getTime() ?? null,
      createdAtMs: createdAt.getTime(),
      updatedAtMs: updatedAt.getTime(),
    },
    receivers: receivers ?? { report: [], analysis: [] },
    endpointData: endpointData ?? {},
  }
}

export async function readStoredReport(tx: Tx, tenant: Tenant, id: string): Promise<StoredReport | null> {
  const [row] = await tx<ReportRow[]>`select ${reportColumns(tx)} from call_reports ${ofCallId(tx, tenant, id)}`
  return row ? storedReportOf(row) : null
}

/** Reads the receivers of the call report. Null if the call has no report, or the report has no receiver. */
export async function readReceivers(tx: Tx, tenant: Tenant, id: string): Promise<ReportReceivers | null> {
  const [row] = await tx<{ receivers: ReportReceivers | null }[]>`
    select receivers from call_reports ${ofCallId(tx, tenant, id)}`
  return row?.receivers ?? null
}
