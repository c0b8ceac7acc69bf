/** For each profile: the minimum and maximum silence before a turn ends, in ms. */
export const turnDelays = {
  conversational: { minDelay: 250, maxDelay: 2500 },
  ivr: { minDelay: 800, maxDelay: 6000 },
  ivr_patient: { minDelay: 1500, maxDelay: 10_000 },
}
