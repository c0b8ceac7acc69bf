/** Draws the product's mark, which is also the tab's icon. */
export function Mark() {
  return (
    <svg width="22" height="22" viewBox="0 0 16 16" aria-hidden="true">
      <rect width="16" height="16" rx="4" fill="#0b6b5d" />
      <path d="M4 6.5v3M8 4v8M12 6.5v3" stroke="#fff" strokeWidth="2" strokeLinecap="round" />
    </svg>
  )
}
