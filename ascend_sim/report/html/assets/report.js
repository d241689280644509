"use strict";
const narrow = () => window.innerWidth < 640;
for (const [name, figure] of Object.entries(CHARTS)) {
  const place = document.getElementById("chart-" + name);
  if (!place) continue;
  if (narrow()) {
    figure.layout.margin = Object.assign({}, figure.layout.margin, { l: Math.min(figure.layout.margin.l, 60), r: 8 });
    figure.layout.font = Object.assign({}, figure.layout.font, { size: 11 });
    if (name === "timeline") figure.layout.yaxis = Object.assign({}, figure.layout.yaxis, { tickfont: { size: 9 } });
  }
  Plotly.newPlot(place, figure.data, figure.layout, { responsive: true, displaylogo: false, displayModeBar: false, scrollZoom: name === "timeline" });
}
