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
.wish { stroke: var(--soft); stroke-width: 2; } .kept { stroke: var(--ink); stroke-width: 1.4; }
.key i.full, .key i.open { width: 10px; height: 10px; border: 2px solid var(--soft); border-radius: 50%; } .key i.full { background: var(--soft); }
.key i.wait { height: 10px; border: 0; background: var(--shown); opacity: .18; } .key i.window { height: 9px; border: 0; border-radius: 2px; background: var(--shown); opacity: .42; }
.key i.wished { border-top: 2px solid var(--soft); } .key i.at { width: 0; height: 12px; border: 0; border-left: 2px solid var(--ink); }
.policies { margin-top: 10px; } .policies th, .offers th { white-space: normal; vertical-align: bottom; line-height: 1.25; } .policies th:first-child, .policies td:first-child { text-align: left; } .mine td { font-weight: 600; }
.bound td { color: var(--soft); } .offers th:nth-child(4), .offers td:nth-child(4), .offers th:nth-child(5), .offers td:nth-child(5) { text-align: left; }
tfoot td { font-weight: 600; border-bottom: 0; } details { margin: 8px 0; } summary { cursor: pointer; color: var(--soft); font-size: 13px; padding: 4px 0; }
.chip { display: inline-block; font-style: normal; font-size: 11.5px; line-height: 1.5; padding: 0 7px; border-radius: 9px; border: 1px solid var(--idle); color: var(--soft); }
.chip.idle { border-color: transparent; padding: 0; } .chip.good { border-color: var(--good); color: var(--good); } .chip.bad { border-color: var(--bad); color: var(--bad); }
)";

}  // namespace penstock::booking::detail
