/** Says for people why a call ended. */
import type { EndReason } from '../../../generated/clients/typescript/models/platform.ts'

export const endReasons: Record<EndReason, string> = {
  user_hangup: 'the person hung up',
  user_disconnected: 'the connection of the person was lost',
  agent_hangup: 'the agent hung up',
  api_ended: 'ended in the console or by a program',
  transferred: 'handed to another person',
  silence_timeout: 'nobody spoke',
  max_duration: 'the longest time was reached',
  voicemail: 'a voicemail answered',
  busy: 'the number was busy',
  no_answer: 'nobody answered',
  not_joined: 'nobody joined in time',
  cancelled: 'cancelled before the answer',
  credit_exhausted: 'the credit was spent',
  pipeline_failed: 'no provider of a stage was left',
  worker_lost: 'a process of the server died',
  server_shutdown: 'the server was stopped',
  concurrency_exhausted: 'too many calls were live',
  not_ready: 'the agent was not ready',
  declined: 'declined',
  invalid_number: 'the number cannot be reached',
  carrier_error: 'the carrier failed',
}
