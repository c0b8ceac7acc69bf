/** For each turn-taking profile: the minimum and maximum silence that ends the user's turn, in ms. */
export const turnDelays = {
  conversational: { minDelay: 250, maxDelay: 2500 },
  ivr: { minDelay: 800, maxDelay: 6000 },
  ivr_patient: { minDelay: 1500, maxDelay: 10_000 },
}
