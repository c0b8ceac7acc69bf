/** Milliseconds of silence after which a turn ends, for each profile: at least, and at most. */
export const turnDelays = {
  conversational: { minDelay: 250, maxDelay: 2500 },
  ivr: { minDelay: 800, maxDelay: 6000 },
  ivr_patient: { minDelay: 1500, maxDelay: 10_000 },
}
