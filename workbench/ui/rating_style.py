"""How the rater's desk looks: all of it within 1400 x 900, the report scrolling by itself."""

STYLE = """<style>
.wb-sentence {cursor: pointer; border-radius: .2rem}
.wb-sentence:hover {background: rgba(147,161,163,.18)}
.wb-sentence.evidence {background: rgba(224,164,60,.30)}
.wb-sentence.evidence::after {content: " " attr(data-for); font-size: .72rem; font-weight: 600; opacity: .8}
kbd.wb-key {display: inline-block; min-width: 1.25rem;
  text-align: center; padding: .02rem .28rem; margin-right: .3rem; border: 1px solid rgba(147,161,163,.65);
  border-bottom-width: 2px; border-radius: .28rem; background: rgba(147,161,163,.12); color: inherit;
  font: 600 .74rem/1.15 ui-monospace, monospace; text-transform: uppercase}
[data-testid=stMain]:focus-visible {outline: none; box-shadow: none; border-color: transparent}
[data-testid=stMain]:focus-visible::before, [data-testid=stMain]:focus-visible::after {display: none}
.wb-keys {display: grid; grid-template-columns: 1fr 1fr; gap: .25rem 1.2rem; font-size: .86rem}
.stMainBlockContainer {padding-top: 1.1rem; padding-bottom: 1rem}
.stAppHeader {background: transparent}
.wb-banner {margin-right: 3.5rem}
.wb-banner.practice {margin: 0; font-weight: 600; white-space: nowrap}
.st-key-rate_head {margin-bottom: -.55rem}
.st-key-rate_head h2 {padding: 0}
.stApp:has(.st-key-rate_offer) {--wb-offer: 4.2rem}
.stApp:has(.st-key-rate_highlighting [data-testid=stCaptionContainer]) {--wb-priming: 3.2rem}
[data-testid=stLayoutWrapper]:has(> .st-key-rate_reader) {flex: none; min-height: 0;
  height: max(320px, calc(100vh - 17.3rem - var(--wb-offer, 0rem) - var(--wb-priming, 0rem)))}
.st-key-rate_reader {height: 100% !important; padding-right: .3rem}
[data-testid=stLayoutWrapper]:has(> .st-key-rate_feedback) {flex: none; min-height: 0;
  height: max(300px, calc(100vh - 18rem))}
.st-key-rate_feedback {height: 100% !important}
.st-key-rate_highlighting {gap: .2rem}
.st-key-rate_highlighting p {font-size: .82rem}
.st-key-rate_offer {padding: .35rem .8rem !important; background: rgba(47,143,151,.07)}
.stApp .st-key-rate_offer :is(p, [data-testid=stMarkdownContainer]) {margin: 0}
.st-key-rate_bar p {font-size: .85rem}
.st-key-rate_hint p {font-size: .82rem; line-height: 1.55; opacity: .85}
.st-key-rate_saved {transition: opacity .1s}
body[data-wb-saving] .st-key-rate_saved {opacity: .3; transition: opacity .2s .15s}
@media (min-width: 1700px) and (min-height: 1000px) {
  .st-key-rate_reader .wb-text {font-size: 1.1rem}
}
</style>"""
