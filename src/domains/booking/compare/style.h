#pragma once

namespace penstock::booking::detail {

/// What the report adds to the style that all pages share.
constexpr const char* kReportStyle = R"(
:root { --shown: #1f66ad; --other: #8a93a1; --good: #3b8f5a; --bad: #c4503f; --idle: #c9ced6; --warm: #1f66ad; --cool: #c4622d;
  --v0: #1f66ad; --v1: #c4622d; --v2: #2f8f5b; --v3: #8450ad; --v4: #a8810a; --v5: #bf3a70; --v6: #1f8c99; --v7: #7a6452; }
@media (prefers-color-scheme: dark) {
  :root { --shown: #6cb2f2; --other: #77818f; --good: #6cc08b; --bad: #ef8375; --idle: #48525f; --warm: #6cb2f2; --cool: #f0965c;
    --v0: #6cb2f2; --v1: #f0965c; --v2: #6cc894; --v3: #bf98ec; --v4: #dcb844; --v5: #f284ae; --v6: #5cc7d4; --v7: #c4ab95; } }
.v0 { --c: var(--v0); } .v1 { --c: var(--v1); } .v2 { --c: var(--v2); } .v3 { --c: var(--v3); }
.v4 { --c: var(--v4); } .v5 { --c: var(--v5); } .v6 { --c: var(--v6); } .v7 { --c: var(--v7); }
.shown { --c: var(--shown); fill: var(--c); } .other { --c: var(--other); }
.good { fill: var(--good); } .bad { fill: var(--bad); } .idle { fill: var(--idle); } .warm { fill: var(--warm); } .cool { fill: var(--cool); }
.strong { font-weight: 600; font-size: 13px; } .tiny { font-size: 9.5px; fill: var(--soft); font-variant-numeric: tabular-nums; }
.limit { stroke: var(--ink); stroke-dasharray: 4 3; } .ground { fill: var(--page); stroke: var(--rule); }
.leg { stroke: var(--c); stroke-width: 1.6; stroke-opacity: .75; } .leg.empty { stroke-dasharray: 3 4; stroke-opacity: .5; stroke-width: 1.2; }
.arrow { fill: var(--c); } .fill { fill: var(--c); } .edge { stroke: var(--card); stroke-width: 1; } .depot { fill: var(--ink); }
.hollow { fill: var(--card); stroke: var(--c); stroke-width: 1.2; } .waiting { fill: var(--c); fill-opacity: .13; }
.promise { fill: var(--c); fill-opacity: .42; } .promise.drop { fill-opacity: .1; stroke: var(--c); stroke-opacity: .75; }
.stop-number { font-size: 8px; text-anchor: middle; pointer-events: none; fill: var(--c, var(--ink)); font-weight: 600; } .stop-number.in { fill: var(--card); } .ring { fill: var(--card); }
.req { cursor: pointer; transition: opacity .12s; }
.wish { stroke: var(--soft); stroke-width: 2; } .kept { stroke: var(--ink); stroke-width: 1.4; }
.key i.full, .key i.open { width: 10px; height: 10px; border: 2px solid var(--soft); border-radius: 50%; } .key i.full { background: var(--soft); }
.key i.wait { height: 10px; border: 0; background: var(--shown); opacity: .18; } .key i.window { height: 9px; border: 0; border-radius: 2px; background: var(--shown); opacity: .42; }
.key i.wished { border-top: 2px solid var(--soft); } .key i.at { width: 0; height: 12px; border: 0; border-left: 2px solid var(--ink); }
.policies { margin-top: 10px; } .policies th, .offers th { white-space: normal; vertical-align: bottom; line-height: 1.25; } .policies th:first-child, .policies td:first-child { text-align: left; } .mine td { font-weight: 600; }
.bound td { color: var(--soft); } .offers th:nth-child(4), .offers td:nth-child(4), .offers th:nth-child(5), .offers td:nth-child(5) { text-align: left; }
.gains { display: grid; gap: 10px; margin: 6px 0 2px; } .gain { display: grid; grid-template-columns: 116px 1fr 236px; gap: 12px; align-items: center; font-size: 13px; font-variant-numeric: tabular-nums; }
.gain.shown { font-weight: 600; } .gain .line { position: relative; height: 18px; } .gain .line > * { position: absolute; }
.gain em { top: -6px; bottom: -6px; border-left: 1px solid var(--soft); } .gain i { top: 8px; height: 2px; background: var(--c); } .gain b { top: 4.5px; width: 9px; height: 9px; margin-left: -4.5px; border-radius: 50%; background: var(--c); }
.axis-name { font-size: 13px; margin-top: 10px; } main { max-width: 1200px; } .policies td:nth-child(3) { white-space: normal; min-width: 112px; }
.scroll { background: linear-gradient(90deg, var(--card) 30%, transparent) 0 0 / 40px 100% no-repeat local, linear-gradient(270deg, var(--card) 30%, transparent) 100% 0 / 40px 100% no-repeat local,
  linear-gradient(90deg, var(--idle), transparent) 0 0 / 14px 100% no-repeat scroll, linear-gradient(270deg, var(--idle), transparent) 100% 0 / 14px 100% no-repeat scroll; }
@media (max-width: 700px) {
  main { padding: 16px 10px 40px; } section { padding: 14px 12px 8px; } .pair svg { max-width: 100%; height: auto; }
  .gain { grid-template-columns: 96px 1fr; gap: 2px 10px; } .gain span:last-child { grid-column: 2; }
  .cards thead { display: none; } .cards, .cards tbody, .cards tfoot { display: block; white-space: normal; }
  .cards tr { display: grid; grid-template-columns: 1fr 1fr; gap: 0 14px; padding: 8px 0; border-bottom: 1px solid var(--rule); }
  .cards td, .cards td:first-child { display: flex; justify-content: space-between; gap: 8px; border: 0; padding: 1px 0; text-align: right; }
  .cards td::before { content: attr(data-name); color: var(--soft); font-weight: 400; text-align: left; }
  .policies td:nth-child(-n+3) { grid-column: 1 / -1; } .policies td:first-child { font-weight: 600; } .policies td:first-child::before { content: none; } .cards td:empty { display: none; } }
tfoot td { font-weight: 600; border-bottom: 0; } details { margin: 8px 0; } summary { cursor: pointer; color: var(--soft); font-size: 13px; padding: 4px 0; }
.chip { display: inline-block; font-style: normal; font-size: 11.5px; line-height: 1.5; padding: 0 7px; border-radius: 9px; border: 1px solid var(--idle); color: var(--soft); }
.chip.idle { border-color: transparent; padding: 0; } .chip.good { border-color: var(--good); color: var(--good); } .chip.bad { border-color: var(--bad); color: var(--bad); }
)";

}  // namespace penstock::booking::detail
