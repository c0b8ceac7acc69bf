import type { ConformReport, ConformRequest } from '../../cli/actions.ts'
import { UsageError } from '../../cli/command-error.ts'
import { conform, UnknownName } from '../../conform/conform.ts'
import { NoAnswer } from '../../conform/http.ts'
import { junitOf, linesOf, summaryOf } from '../../conform/report.ts'

export async function conformReport(request: ConformRequest): Promise<ConformReport> {
  const startMs = performance.now()
  try {
    const targets = await conform(request)
    const summary = summaryOf(targets)
    return {
      failed: summary.failed,
      lines: linesOf(targets),
      junit: junitOf(targets, (performance.now() - startMs) / 1000),
      report: { url: request.url, summary, targets },
    }
  } catch (error) {
    // The address or a name is wrong, so the exit code is 2.
    if (error instanceof NoAnswer || error instanceof UnknownName) throw new UsageError(error.message, { cause: error })
    throw error
  }
}
