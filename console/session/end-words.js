const reasons = {
  user_hangup: 'You have ended the conversation.',
  agent_hangup: 'The agent has ended the conversation.',
  silence_timeout: 'Nobody said anything for a while.',
  max_duration: 'The conversation has reached its time limit.',
  credit_exhausted: 'The credit is used up.',
  pipeline_failed: 'No provider could serve the conversation.',
  server_shutdown: 'The server has stopped.',
}

/**
 * Says why a conversation is over. `reason` is the server's end reason, and `fault` an error's text. Both can be null.
 */
export function endWords(reason, fault) {
  return reasons[reason] ?? fault ?? (reason === null ? 'The connection was lost.' : 'The conversation is over.')
}
