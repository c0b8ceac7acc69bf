import type { ConformReport, ConformRequest } from '../../cli/actions.ts'
import { UsageError } from '../../cli/command-error.ts'
import { conform, UnknownName } from '../../conform/conform.ts'
import { NoAnswer } from '../../conform/read-surfaces.ts'
import { junitOf, linesOf, summaryOf } from '../../conform/report.ts'

/** The exit code after Ctrl-C, as shells write it. */
const interruptedCode = 130

export async function conformReport(request: ConformRequest): Promise<ConformReport> {
  const startMs = performance.now()
  const interrupt = new AbortController()
  // A second Ctrl-C ends the process at once, because the first one removes this listener.
  const onSignal = () => interrupt.abort(new Error('it was interrupted'))
  for (const name of signals) process.once(name, onSignal)
  try {
    const report = await conform({ ...request, signal: interrupt.signal })
    const summary = summaryOf(report.targets)
    const isFailed = summary.failed > 0 || report.ended !== null
    return {
      exitCode: interrupt.signal.aborted ? interruptedCode : isFailed ? 1 : 0,
      lines: linesOf(report),
      junit: junitOf(report.targets, (performance.now() - startMs) / 1000),
      report: { url: request.url, summary, ...report },
    }
  } catch (error) {
    // The URL leads to no server, or an operation, channel or document with this name is unknown. So the exit code is
    // 2.
    if (error instanceof NoAnswer || error instanceof UnknownName) throw new UsageError(error.message, { cause: error })
    throw error
  } finally {
    for (const name of signals) process.off(name, onSignal)
  }
}

const signals = ['SIGINT', 'SIGTERM'] as const
