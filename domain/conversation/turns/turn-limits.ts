/** The sentence that ends the session may take this long. */
export const lastSentenceMs = 10_000
/** A message that is left to a machine may take this long: 1000 characters are spoken in 70 s. */
export const lastMessageMs = 120_000
/** The last words of the user are waited for this long. */
export const lastTranscriptMs = 500
/** A short answer right before the agent ends is an answer, and not a backchannel. */
export const nearEndMs = 1000
/** This many turns in a row without an answer end the session. */
export const failedTurnsMax = 3
