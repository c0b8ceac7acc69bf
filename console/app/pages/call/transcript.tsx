import { ArrowDownToLine } from 'lucide-react'
import { memo, type RefObject, useEffect, useRef, useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { classes } from '../../parts/classes.ts'
import { Empty } from '../../parts/states.tsx'
import type { Line } from './timeline.ts'
import styles from './transcript.module.css'
import { TurnRow } from './turn-row.tsx'

type TranscriptProps = {
  lines: readonly Line[]
  current: number | null
  selected: number | null
  select: (line: Line) => void
  seek: (seconds: number) => void
  isPlaying: boolean
  isLive: boolean
}

/** Shows the words. The view follows the sound, or the newest line of a live call, until the reader scrolls away. */
export const Transcript = memo(function Transcript(props: TranscriptProps) {
  const { lines, current, selected, select, seek, isPlaying, isLive } = props
  const list = useRef<HTMLOListElement>(null)
  const { isAway, setAway } = useFollowing(list, props)
  if (lines.length === 0) return <Empty title="Nothing was said in this call" />
  return (
    <section aria-label="Transcript" className={classes(styles.transcript, isLive && styles.live)}>
      <h2 className="unseen">Transcript</h2>
      <ol ref={list} onScroll={({ currentTarget }) => isLive && !isPlaying && setAway(!isAtEnd(currentTarget))}>
        {lines.map((line) => (
          <TurnRow
            key={line.turn.id}
            line={line}
            isCurrent={line.turn.index === current}
            isSelected={line.turn.index === selected}
            select={select}
            seek={seek}
          />
        ))}
      </ol>
      {(isPlaying || isLive) && isAway && (
        <Button look="main" isSmall className={styles.back} onClick={() => setAway(false)}>
          <ArrowDownToLine aria-hidden="true" />
          Back to now
        </Button>
      )}
    </section>
  )
})

/** Moves the view. `isAway` is true if the reader has left the sound or the newest line. */
function useFollowing(
  list: RefObject<HTMLOListElement | null>,
  { lines, current, selected, isPlaying, isLive }: TranscriptProps,
) {
  const [isAway, setAway] = useState(isLive && selected !== null)
  const [wasLive, setWasLive] = useState(isLive)
  // After the call's end the view follows the sound, wherever the reader was in the live call.
  if (wasLive !== isLive) {
    setWasLive(isLive)
    setAway(false)
  }
  useEffect(() => {
    if (!isPlaying) return
    const leave = () => setAway(true)
    addEventListener('wheel', leave, { passive: true })
    addEventListener('touchmove', leave, { passive: true })
    return () => {
      removeEventListener('wheel', leave)
      removeEventListener('touchmove', leave)
    }
  }, [isPlaying])
  useEffect(() => {
    if (isPlaying && current !== null && !isAway) reveal(list.current, current)
  }, [list, current, isPlaying, isAway])
  // The URL can name an unfinished turn.
  const isThere = lines.some(({ turn }) => turn.index === selected)
  useEffect(() => {
    if (isPlaying || !isThere || selected === null) return
    reveal(list.current, selected)
    if (isLive) setAway(true)
  }, [list, selected, isThere, isPlaying, isLive])
  useEffect(() => {
    const { current: element } = list
    if (!isLive || isPlaying || isAway || element === null) return
    // The observer reports at once, and again if the window changes the lines' height.
    const observer = new ResizeObserver(() => element.scrollTo(0, element.scrollHeight))
    observer.observe(element)
    return () => observer.disconnect()
  }, [list, lines, isLive, isPlaying, isAway])
  useHeightAbove(list, isLive && lines.length > 0)
  return { isAway, setAway }
}

/** Tells the style sheet the height above the list, because bars come and go there, and the list fills the window. */
function useHeightAbove(list: RefObject<HTMLOListElement | null>, isWanted: boolean): void {
  useEffect(() => {
    const { current: element } = list
    if (!isWanted || element === null) return
    const observer = new ResizeObserver(() => {
      const abovePx = element.getBoundingClientRect().top + scrollY
      element.style.setProperty('--above', `${Math.ceil(abovePx)}px`)
    })
    observer.observe(document.body)
    return () => observer.disconnect()
  }, [list, isWanted])
}

function reveal(list: HTMLElement | null, index: number): void {
  list?.querySelector(`[data-turn="${index}"]`)?.scrollIntoView({ block: 'nearest' })
}

/** The view can be some pixels away from the end, because a browser rounds positions. */
const slackPx = 8

const isAtEnd = ({ scrollTop, clientHeight, scrollHeight }: HTMLElement) =>
  scrollTop + clientHeight >= scrollHeight - slackPx
