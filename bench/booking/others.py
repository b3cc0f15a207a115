"""PyVRP and OR-tools on an instance that `routing_bench days` or `show` printed: the same whole numbers that ours
plans with, so that rounding is the same. Both are single-threaded.

    pip install 'pyvrp==0.14.*' 'ortools==9.15.*'
"""
import time


def vehicle_price(day):
    """With vehicles first, one more costs more than any tour saves by it."""
    return 100 * max(day["distance"]) if day.get("vehicles_first") else 0


def pyvrp_data(day):
    from pyvrp import Model

    model, size = Model(), len(day["nodes"])
    places = [model.add_location(0, 0) for _ in range(size)]
    depot = model.add_depot(places[0])
    early, late = day["nodes"][0][:2]
    model.add_vehicle_type(num_available=day["vehicles"], capacity=day["capacity"], start_depot=depot, end_depot=depot,
                           tw_early=early, tw_late=late, fixed_cost=vehicle_price(day))
    if day["mode"] == "ride":
        for k in range(1, size, 2):
            (early, late, service, load), (early2, late2, service2, _) = day["nodes"][k:k + 2]
            model.add_shipment(places[k], places[k + 1], amount=load, pickup_tw_early=early, pickup_tw_late=late,
                               pickup_service_duration=service, delivery_tw_early=early2, delivery_tw_late=late2,
                               delivery_service_duration=service2)
    else:
        for place, (early, late, service, load) in zip(places[1:], day["nodes"][1:]):
            model.add_client(place, delivery=load, service_duration=service, tw_early=early, tw_late=late)
    for i in range(size):
        for j in range(size):
            if i != j:
                model.add_edge(places[i], places[j], day["distance"][i * size + j], day["duration"][i * size + j])
    return model.data()


def pyvrp_cost(day, seconds):
    """(cost, vehicles), or None without a feasible plan."""
    from pyvrp import solve
    from pyvrp.stop import MaxRuntime

    result = solve(pyvrp_data(day), stop=MaxRuntime(seconds), seed=1, display=False, collect_stats=False)
    if not result.is_feasible():
        return None
    return result.best.distance(), result.best.num_routes()


def ortools_model(day):
    from ortools.constraint_solver import pywrapcp

    nodes, size = day["nodes"], len(day["nodes"])
    rows = [slice(i * size, (i + 1) * size) for i in range(size)]
    manager = pywrapcp.RoutingIndexManager(size, day["vehicles"], 0)
    model = pywrapcp.RoutingModel(manager)
    model.SetArcCostEvaluatorOfAllVehicles(model.RegisterTransitMatrix([day["distance"][row] for row in rows]))
    model.SetFixedCostOfAllVehicles(vehicle_price(day))
    horizon = nodes[0][1]
    busy = [[leg + node[2] for leg in day["duration"][row]] for node, row in zip(nodes, rows)]
    model.AddDimension(model.RegisterTransitMatrix(busy), horizon, horizon, False, "time")
    loads = model.RegisterUnaryTransitVector([node[3] for node in nodes])
    model.AddDimension(loads, 0, day["capacity"], True, "load")
    when = model.GetDimensionOrDie("time")
    for node in range(1, size):
        when.CumulVar(manager.NodeToIndex(node)).SetRange(*nodes[node][:2])
    for vehicle in range(day["vehicles"]):
        when.CumulVar(model.Start(vehicle)).SetMin(nodes[0][0])
    if day["mode"] == "ride":
        for k in range(1, size, 2):
            pickup, drop = manager.NodeToIndex(k), manager.NodeToIndex(k + 1)
            model.AddPickupAndDelivery(pickup, drop)
            model.solver().Add(model.VehicleVar(pickup) == model.VehicleVar(drop))
            model.solver().Add(when.CumulVar(pickup) <= when.CumulVar(drop))
    return manager, model


def ortools_cost(day, seconds):
    """The same by guided local search from the cheapest parallel insertion."""
    from ortools.constraint_solver import pywrapcp, routing_enums_pb2

    manager, model = ortools_model(day)
    how = pywrapcp.DefaultRoutingSearchParameters()
    how.first_solution_strategy = routing_enums_pb2.FirstSolutionStrategy.PARALLEL_CHEAPEST_INSERTION
    how.local_search_metaheuristic = routing_enums_pb2.LocalSearchMetaheuristic.GUIDED_LOCAL_SEARCH
    how.time_limit.FromMilliseconds(int(1000 * seconds))
    plan = model.SolveWithParameters(how)
    if plan is None:
        return None
    cost, used, size = 0, 0, len(day["nodes"])
    for vehicle in range(day["vehicles"]):
        at = model.Start(vehicle)
        used += not model.IsEnd(plan.Value(model.NextVar(at)))
        while not model.IsEnd(at):
            after = plan.Value(model.NextVar(at))
            cost += day["distance"][manager.IndexToNode(at) * size + manager.IndexToNode(after)]
            at = after
    return cost, used


SOLVERS = {"pyvrp": pyvrp_cost, "ortools": ortools_cost}


def solve(name, day, seconds):
    """{cost, vehicles, cpu} in the instance's own units, or None without a feasible plan in time."""
    begin = time.process_time()
    found = SOLVERS[name](day, seconds)
    cpu = time.process_time() - begin
    return found and {"cost": found[0] / day["units"], "vehicles": found[1], "cpu": cpu}
