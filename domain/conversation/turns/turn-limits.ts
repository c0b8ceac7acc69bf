/** When a session ends, the current sentence may continue for this long. */
export const lastSentenceMs = 10_000
/** A message for an answering machine may take this long: 1000 characters are spoken in 70 s. */
export const lastMessageMs = 120_000
/** When a session ends, the transcript of the user's last words may take this long. */
export const lastTranscriptMs = 500
/** If the agent's turn ends this soon, a short utterance counts as an answer instead of a backchannel. */
export const nearEndMs = 1000
/** If the agent fails to answer this many user turns in a row, the session ends. */
export const failedTurnsMax = 3
