/**
 * Returns the next monthly due time after `ms`: on the same day of the month and at the same time as `anchorMs`, in
 * UTC. If a month is too short for this day, the month's last day is used.
 */
export function nextMonthlyMs(anchorMs: number, ms: number): number {
  const [anchor, now] = [new Date(anchorMs), new Date(ms)]
  const months = (now.getUTCFullYear() - anchor.getUTCFullYear()) * 12 + now.getUTCMonth() - anchor.getUTCMonth()
  const sameMonth = monthsAfter(anchor, months)
  return sameMonth > ms ? sameMonth : monthsAfter(anchor, months + 1)
}

function monthsAfter(anchor: Date, months: number): number {
  const at = new Date(anchor)
  at.setUTCDate(1)
  at.setUTCMonth(at.getUTCMonth() + months)
  const daysInMonth = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 0)).getUTCDate()
  at.setUTCDate(Math.min(anchor.getUTCDate(), daysInMonth))
  return at.getTime()
}
