/**
 * Gauges for numbers that other parts of the server keep. The numbers are read when Prometheus asks, so their changes
 * cost nothing here.
 */
import { Gauge, type Registry } from 'prom-client'

type Value = { labels: Record<string, string>; value: number }

export function createStateMetrics(registry: Registry) {
  const watch = (name: string, help: string, labelNames: string[]) => (read: () => readonly Value[]) =>
    void new Gauge({
      registers: [registry],
      name,
      help,
      labelNames,
      collect() {
        this.reset()
        for (const { labels, value } of read()) this.set(labels, value)
      },
    })
  const one = (name: string, help: string) => {
    const watchOne = watch(name, help, [])
    return (read: () => number) => watchOne(() => [{ labels: {}, value: read() }])
  }
  const buildHelp = 'The version of Parley and of Node; always 1'
  const watchBuild = watch('parley_build_info', buildHelp, ['version', 'node'])
  return {
    build: (version: string, node: string) => watchBuild(() => [{ labels: { version, node }, value: 1 }]),
    watchCircuits: watch(
      'parley_circuits_open',
      'Circuits of models and credentials that admit no attempt, or one at a time; 0 is healthy',
      ['provider', 'kind'],
    ),
    watchWaitingOrganizations: watch(
      'parley_circuits_organizations',
      'Organizations whose own failures pause a provider for them alone; the circuits for all stay closed meanwhile',
      ['provider', 'kind'],
    ),
    watchEngines: watch('parley_engine_queue', 'Jobs that wait for an embedded speech engine', ['engine']),
    watchBatches: watch('parley_batch_rows', 'Rows that wait for a statement, or are in one', ['batch']),
    watchTransactions: watch(
      'parley_postgres_transactions',
      'Transactions for single organizations: those that have a connection (open), and those that wait for one (waiting)',
      ['state'],
    ),
    watchConnectionsMax: one('parley_postgres_connections_max', 'Connections for transactions, store.connectionsMax'),
    watchDatabaseAway: one('parley_postgres_away', '1 while Postgres does not answer, and 0 otherwise'),
    watchJournalBytes: one(
      'parley_settlement_journal_bytes',
      'Settlements that this process keeps in the data folder until Postgres can take them',
    ),
    watchJournalBytesMax: one(
      'parley_settlement_journal_bytes_max',
      'Settlements at which requests are refused, store.journalBytesMax',
    ),
    watchConnections: watch(
      'parley_postgres_connections',
      'Connections of this process to Postgres by what they do: those for transactions, for batches and for notifications',
      ['state'],
    ),
    watchServerConnections: one(
      'parley_postgres_server_connections',
      'Connections of all clients of the Postgres server',
    ),
    watchServerConnectionsMax: one('parley_postgres_server_connections_max', 'max_connections of the Postgres server'),
    watchWork: watch(
      'parley_work_waiting',
      'Reports to analyse, recordings to upload and callbacks that are due, of all processes on the database',
      ['work'],
    ),
    watchOldestWork: watch('parley_work_oldest_seconds', 'How long the oldest of them waits; 0 where none does', [
      'work',
    ]),
    watchSessions: one('parley_sessions_live', 'Voice sessions in this process, those of phone calls included'),
    watchSessionsMax: one('parley_sessions_max', 'Voice sessions that this process takes, sessions.max'),
    watchCalls: watch('parley_calls_live', 'Calls whose conversation runs in this process, by kind', ['kind']),
  }
}
